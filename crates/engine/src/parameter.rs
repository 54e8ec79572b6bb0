//! Parameters of algorithms and stacks: each is declared once, with its default, meaning and source, and from that
//! declaration come the value the algorithm reads, the check of what a user sets, and what `describe` shows.

use serde::Serialize;
use serde_json::Value;

use crate::time::Duration;
use crate::units::{Bytes, Rate};

/// What kind of value a parameter takes, and so how a user writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A real number.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// A length of time; picoseconds in a specification.
    Duration,
    /// A size; bytes in a specification.
    Size,
    /// A length of a queue; packets or bytes in a specification, as `{"packets": 50}`.
    QueueLength,
    /// A rate; bits per second in a specification.
    Rate,
    /// One of a few words.
    Choice,
    /// The name of something in the scenario.
    Text,
}

/// What `describe` tells of a parameter.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Its name in a scenario.
    pub name: &'static str,
    /// How it is written.
    pub kind: Kind,
    /// Its value unless set.
    pub default: Value,
    /// What it does.
    pub doc: &'static str,
    /// Where its default comes from.
    pub source: &'static str,
    /// The words a choice allows.
    pub choices: Option<&'static [&'static str]>,
    /// The least value allowed.
    pub minimum: Option<f64>,
    /// The greatest value allowed.
    pub maximum: Option<f64>,
}

/// A Rust type that a parameter may have.
pub trait ParameterType {
    /// The kind users see.
    const KIND: Kind;
    /// The words of a choice.
    const CHOICES: Option<&'static [&'static str]> = None;
    /// The least value the type itself allows.
    const MINIMUM: Option<f64> = None;
}

impl ParameterType for f64 {
    const KIND: Kind = Kind::Number;
}
impl ParameterType for u64 {
    const KIND: Kind = Kind::Integer;
    const MINIMUM: Option<f64> = Some(0.0);
}
impl ParameterType for bool {
    const KIND: Kind = Kind::Boolean;
}
impl ParameterType for String {
    const KIND: Kind = Kind::Text;
}
impl ParameterType for Duration {
    const KIND: Kind = Kind::Duration;
    const MINIMUM: Option<f64> = Some(0.0);
}
impl ParameterType for Bytes {
    const KIND: Kind = Kind::Size;
    const MINIMUM: Option<f64> = Some(0.0);
}
impl ParameterType for Rate {
    const KIND: Kind = Kind::Rate;
    const MINIMUM: Option<f64> = Some(1.0);
}

/// Checks set numbers against the limits that were declared.
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

/// Declares a struct of parameters: `name: type = default [in least..greatest], "meaning", "source";`.
#[macro_export]
macro_rules! parameters {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident {
        $($field:ident: $type:ty = $default:expr $(, in $minimum:literal .. $maximum:literal)?, $doc:literal, $source:literal;)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $visibility struct $name {
            $(#[doc = $doc] #[doc = concat!(" Source: ", $source, ".")] pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $name {
            /// What each parameter is.
            pub fn describe() -> Vec<$crate::parameter::Description> {
                vec![$({
                    let default: $type = $default;
                    #[allow(unused_mut)]
                    let mut description = $crate::parameter::Description {
                        name: stringify!($field),
                        kind: <$type as $crate::parameter::ParameterType>::KIND,
                        default: serde_json::json!(default),
                        doc: $doc,
                        source: $source,
                        choices: <$type as $crate::parameter::ParameterType>::CHOICES,
                        minimum: <$type as $crate::parameter::ParameterType>::MINIMUM,
                        maximum: None,
                    };
                    $(
                        description.minimum = Some($minimum as f64);
                        description.maximum = Some($maximum as f64);
                    )?
                    description
                },)*]
            }
        }
    };
}

/// Declares a choice: an enum whose variants are written as the given words.
#[macro_export]
macro_rules! choice {
    ($(#[$attribute:meta])* $visibility:vis enum $name:ident { $($(#[$variant_attribute:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $visibility enum $name {
            $($(#[$variant_attribute])* #[serde(rename = $word)] $variant,)*
        }

        impl $crate::parameter::ParameterType for $name {
            const KIND: $crate::parameter::Kind = $crate::parameter::Kind::Choice;
            const CHOICES: Option<&'static [&'static str]> = Some(&[$($word),*]);
        }
    };
}
