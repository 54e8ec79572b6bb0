//! The inner state of algorithms: values that they name, with unit and meaning, and tell those who ask. A run asks only where its
//! specification says so.

use serde::Serialize;

/// A value of an algorithm's inner state, as the catalogue lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StateValue {
    /// The name, which is the measure of its samples.
    pub name: &'static str,
    /// The unit; empty if it has none.
    pub unit: &'static str,
    /// What it is, with the source's own name of it.
    pub doc: &'static str,
    /// Of a value that is the number of a phase, the phases from 0 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<&'static [&'static str]>,
}

/// Takes the values that an algorithm knows at the moment, by their names.
pub type Tell<'a> = dyn FnMut(&str, f64) + 'a;

/// Yes and no as the numbers that a state has for them.
pub fn flag(is_true: bool) -> f64 {
    f64::from(u8::from(is_true))
}

/// Takes what an algorithm from outside the engine tells, and passes on what is a number; `complain` is told of a value, by its name,
/// that is not.
pub fn checked<'a>(complain: impl Fn(&str, &str) + 'a, tell: &'a mut Tell<'_>) -> impl FnMut(&str, f64) + 'a {
    move |name, value| {
        if value.is_finite() {
            tell(name, value);
        } else {
            complain(name, &format!("is {value}, which is no finite number"));
        }
    }
}

/// Declares the values of an inner state: a struct with a field for each, none while it is not known, and the list of all.
macro_rules! inner_state {
    ($state:ident { $($name:ident: $unit:literal, $doc:literal $(, of [$($phase:literal),+])?;)+ }) => {
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $state {
            $(pub $name: Option<f64>,)+
        }

        impl $state {
            pub const VALUES: &'static [$crate::inner::StateValue] = &[$($crate::inner::StateValue {
                name: stringify!($name),
                unit: $unit,
                doc: $doc,
                phases: inner_state!(@phases $($($phase),+)?),
            }),+];

            /// Tells those that are known. A bound that is infinite is none.
            pub fn tell(self, tell: &mut $crate::inner::Tell<'_>) {
                $(if let Some(value) = self.$name.filter(|value| value.is_finite()) {
                    tell(stringify!($name), value);
                })+
            }
        }
    };
    (@phases) => { None };
    (@phases $($phase:literal),+) => { Some(&[$($phase),+]) };
}
