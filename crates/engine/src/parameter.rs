//! Parameters of algorithms and stacks. Each is declared once, with its default, description and source. The
//! declaration provides the value that the algorithm reads, the check of user settings, and the output of `describe`.

use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserializer, Serialize};
use serde_json::{Value, json};

use crate::time::Duration;
use crate::units::{Bytes, Rate};

/// The kind of value of a parameter, which determines its notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    Number,
    Integer,
    Boolean,
    /// A duration, in picoseconds in a specification.
    Duration,
    /// A size, in bytes in a specification.
    Size,
    /// A queue length, in packets or bytes in a specification, as `{"packets": 50}`.
    QueueLength,
    /// A rate, in bits per second in a specification.
    Rate,
    /// One of several words.
    Choice,
    /// The name of an element of the scenario.
    Text,
}

#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// The name in a scenario.
    pub name: &'static str,
    pub kind: ParameterKind,
    pub default: Value,
    pub doc: &'static str,
    /// The source of the default.
    pub source: &'static str,
    pub choices: Option<&'static [&'static str]>,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
}

impl Description {
    #[must_use]
    pub fn within(self, minimum: f64, maximum: f64) -> Description {
        Description { minimum: Some(minimum), maximum: Some(maximum), ..self }
    }
}

/// A Rust type that a parameter can have.
pub trait ParameterType {
    const KIND: ParameterKind;
    const CHOICES: Option<&'static [&'static str]> = None;
    const MINIMUM: Option<f64> = None;
}

impl ParameterType for f64 {
    const KIND: ParameterKind = ParameterKind::Number;
}
impl ParameterType for u64 {
    const KIND: ParameterKind = ParameterKind::Integer;
    const MINIMUM: Option<f64> = Some(0.0);
}
impl ParameterType for bool {
    const KIND: ParameterKind = ParameterKind::Boolean;
}
impl ParameterType for String {
    const KIND: ParameterKind = ParameterKind::Text;
}
impl ParameterType for Duration {
    const KIND: ParameterKind = ParameterKind::Duration;
    const MINIMUM: Option<f64> = Some(0.0);
}
impl ParameterType for Bytes {
    const KIND: ParameterKind = ParameterKind::Size;
    const MINIMUM: Option<f64> = Some(0.0);
}
impl ParameterType for Rate {
    const KIND: ParameterKind = ParameterKind::Rate;
    const MINIMUM: Option<f64> = Some(1.0);
}

/// Checks numbers against the declared limits.
///
/// # Errors
/// One line that names the parameter, its value and what is allowed.
pub fn check_limits(set: &Value, descriptions: &[Description]) -> Result<(), String> {
    for description in descriptions {
        let Some(value) = set.get(description.name).and_then(Value::as_f64) else {
            continue;
        };
        let below = description.minimum.is_some_and(|minimum| value < minimum);
        let above = description.maximum.is_some_and(|maximum| value > maximum);
        if below || above || !value.is_finite() {
            let minimum = description.minimum.map_or(String::new(), |limit| format!(" at least {limit}"));
            let maximum = description.maximum.map_or(String::new(), |limit| format!(" at most {limit}"));
            return Err(format!("{}: {value} is out of range:{minimum}{maximum}", description.name));
        }
    }
    Ok(())
}

/// A struct of parameters declared by `parameters!`.
pub trait Parameters: Default {
    /// Sets the parameter of this name. Returns whether it exists.
    ///
    /// # Errors
    /// If the value does not have the parameter's type.
    fn set(&mut self, name: &str, value: &Value) -> serde_json::Result<bool>;
}

/// Deserializes parameters. Those that are not given have their defaults.
///
/// # Errors
/// One line that names the parameter, if it does not exist or its value has another type.
pub fn read<'de, P: Parameters, D: Deserializer<'de>>(deserializer: D) -> Result<P, D::Error> {
    struct Reader<P>(PhantomData<P>);

    impl<'de, P: Parameters> Visitor<'de> for Reader<P> {
        type Value = P;

        fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
            formatter.write_str("a map")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut given: M) -> Result<P, M::Error> {
            let mut parameters = P::default();
            while let Some((name, value)) = given.next_entry::<String, Value>()? {
                let known =
                    parameters.set(&name, &value).map_err(|error| M::Error::custom(format!("{name}: {error}")))?;
                if !known {
                    return Err(M::Error::custom(format!("unknown parameter {name:?}")));
                }
            }
            Ok(parameters)
        }
    }

    deserializer.deserialize_map(Reader(PhantomData))
}

/// Changes the default of a nested parameter.
///
/// # Panics
/// If there is no parameter of this name, or the value has another type.
pub fn override_default<P: Parameters>(parameters: &mut P, name: &str, value: impl Serialize) {
    let known = parameters.set(name, &json!(value));
    assert!(known.is_ok_and(|known| known), "{name}: no such parameter to override");
}

/// Declares a struct of parameters. Each entry has one of the forms
///
/// - `name: type = default [, in least..greatest], "meaning", "source";`
/// - `..field: OtherParameters [, except name, ...] [{ name = default [, in least..greatest], "source"; ... }];`
///
/// The second form includes the parameters of another struct, which the user sets like the others. Parameters after
/// `except` are omitted. Those in braces have other defaults and limits.
macro_rules! parameters {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident { $($entries:tt)* }) => {
        parameters! { @read [$(#[$attribute])* $visibility struct $name] [] $($entries)* }
    };

    // Normalises all entries to the form { field, type, (documentation), (how it is read) }.
    (@read [$($head:tt)*] [$($done:tt)*]
        $field:ident: $type:ty = $default:expr $(, in $minimum:literal .. $maximum:literal)?, $doc:literal, $source:literal;
        $($rest:tt)*
    ) => {
        parameters! { @read [$($head)*] [$($done)* {
            $field, $type, (#[doc = $doc] #[doc = concat!(" Source: ", $source, ".")]),
            (one $default, [$($minimum, $maximum)?], $doc, $source)
        }] $($rest)* }
    };
    (@read [$($head:tt)*] [$($done:tt)*]
        ..$field:ident: $type:ty $(, except $($hidden:ident),+)? $({
            $($name:ident = $default:expr $(, in $minimum:literal .. $maximum:literal)?, $source:literal;)*
        })?;
        $($rest:tt)*
    ) => {
        parameters! { @read [$($head)*] [$($done)* {
            $field, $type, (#[doc = concat!("See [`", stringify!($type), "`].")]),
            (nested [$($($hidden),+)?] [$($(($name, $default, [$($minimum, $maximum)?], $source))*)?])
        }] $($rest)* }
    };
    (@read [$(#[$attribute:meta])* $visibility:vis struct $name:ident]
        [$({ $field:ident, $type:ty, ($($doc:tt)*), $how:tt })*]
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug)]
        $visibility struct $name {
            $($($doc)* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: parameters!(@default $type, $how),)* }
            }
        }

        impl $name {
            pub fn describe() -> Vec<$crate::parameter::Description> {
                #[allow(unused_mut)] // Some structs have no parameters.
                let mut descriptions = Vec::new();
                $(parameters!(@describe descriptions, $field, $type, $how);)*
                descriptions
            }
        }

        impl $crate::parameter::Parameters for $name {
            #[allow(unused_variables)] // Some structs have no parameters.
            fn set(&mut self, name: &str, value: &serde_json::Value) -> serde_json::Result<bool> {
                $(parameters!(@set (self.$field), name, value, $field, $type, $how);)*
                Ok(false)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::parameter::read(deserializer)
            }
        }
    };

    (@default $type:ty, (one $default:expr, $limits:tt, $doc:literal, $source:literal)) => { $default };
    (@default $type:ty, (nested $hidden:tt [$(($name:ident, $default:expr, $limits:tt, $source:literal))*])) => {{
        #[allow(unused_mut)] // Some structs override no default.
        let mut nested = <$type>::default();
        $($crate::parameter::override_default(&mut nested, stringify!($name), $default);)*
        nested
    }};

    (@describe $all:ident, $field:ident, $type:ty, (one $default:expr, [$($minimum:literal, $maximum:literal)?], $doc:literal, $source:literal)) => {
        let default: $type = $default;
        let description = $crate::parameter::Description {
            name: stringify!($field),
            kind: <$type as $crate::parameter::ParameterType>::KIND,
            default: serde_json::json!(default),
            doc: $doc,
            source: $source,
            choices: <$type as $crate::parameter::ParameterType>::CHOICES,
            minimum: <$type as $crate::parameter::ParameterType>::MINIMUM,
            maximum: None,
        };
        $(let description = description.within($minimum as f64, $maximum as f64);)?
        $all.push(description);
    };
    (@describe $all:ident, $field:ident, $type:ty, (nested [$($hidden:ident),*] [$(($name:ident, $default:expr, [$($minimum:literal, $maximum:literal)?], $source:literal))*])) => {
        for description in <$type>::describe() {
            $all.push(match description.name {
                $(stringify!($hidden) => continue,)*
                $(stringify!($name) => {
                    $(let description = description.within($minimum as f64, $maximum as f64);)?
                    $crate::parameter::Description { default: serde_json::json!($default), source: $source, ..description }
                })*
                _ => description,
            });
        }
    };

    (@set ($($place:tt)*), $name:ident, $value:ident, $field:ident, $type:ty, (one $($rest:tt)*)) => {
        if $name == stringify!($field) {
            $($place)* = serde::Deserialize::deserialize($value)?;
            return Ok(true);
        }
    };
    (@set ($($place:tt)*), $name:ident, $value:ident, $field:ident, $type:ty, (nested [$($hidden:ident),*] $overrides:tt)) => {
        if ![$(stringify!($hidden)),*].contains(&$name) && $crate::parameter::Parameters::set(&mut $($place)*, $name, $value)? {
            return Ok(true);
        }
    };
}

/// Declares a choice: an enum whose variants are denoted by the given words.
macro_rules! choice {
    ($(#[$attribute:meta])* $visibility:vis enum $name:ident { $($(#[$variant_attribute:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $visibility enum $name {
            $($(#[$variant_attribute])* #[serde(rename = $word)] $variant,)*
        }

        impl $crate::parameter::ParameterType for $name {
            const KIND: $crate::parameter::ParameterKind = $crate::parameter::ParameterKind::Choice;
            const CHOICES: Option<&'static [&'static str]> = Some(&[$($word),*]);
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize as _;

    parameters! {
        struct Inner {
            first: u64 = 1, "The first", "here";
            second: f64 = 2.0, in 0..10, "The second", "here";
            third: bool = true, "The third", "here";
        }
    }

    parameters! {
        struct Outer {
            own: String = String::new(), "Its own", "there";
            ..inner: Inner, except third {
                second = 4.0, in 3..5, "there";
            };
        }
    }

    /// Nested parameters are described and set like the others, with the defaults, limits and sources that override
    /// theirs. Excepted ones are unknown.
    #[test]
    fn nested_parameters() {
        let descriptions = Outer::describe();
        let names: Vec<&str> = descriptions.iter().map(|description| description.name).collect();
        assert_eq!(names, ["own", "first", "second"]);
        let second = &descriptions[2];
        assert_eq!((&second.default, second.doc, second.source), (&json!(4.0), "The second", "there"));
        assert_eq!((second.minimum, second.maximum), (Some(3.0), Some(5.0)));
        assert_eq!(descriptions[1].default, json!(1));

        let read = |set: Value| Outer::deserialize(set).map_err(|error| error.to_string());
        let defaults = read(json!({})).unwrap();
        assert_eq!((defaults.own.as_str(), defaults.inner.first, defaults.inner.second), ("", 1, 4.0));
        let set = read(json!({"own": "x", "first": 7, "second": 3.5})).unwrap();
        assert_eq!((set.own.as_str(), set.inner.first, set.inner.second, set.inner.third), ("x", 7, 3.5, true));
        assert_eq!(read(json!({"third": false})).unwrap_err(), "unknown parameter \"third\"");
        assert!(read(json!({"first": "x"})).unwrap_err().starts_with("first: "));
    }
}
