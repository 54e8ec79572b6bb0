//! What a column of a frame is, and a value in it.

use std::borrow::Cow;

use crate::time::{Duration, Time};

/// A column of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name, the same in every language and file.
    pub name: &'static str,
    /// What is in it.
    pub kind: Kind,
    /// The unit; empty if it has none.
    pub unit: &'static str,
    /// What it means, in Markdown, for docs/measures.md. Columns beside each other that share it stand in one row there.
    pub meaning: &'static str,
}

/// What is in a column, apart from null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers below 2^8.
    U8,
    /// Whole numbers below 2^32.
    U32,
    /// Whole numbers.
    U64,
    /// Real numbers.
    F64,
    /// Truth values.
    Bool,
    /// Words.
    Text,
}

impl Kind {
    /// The type's name in polars.
    pub fn name(self) -> &'static str {
        match self {
            Kind::U8 => "UInt8",
            Kind::U32 => "UInt32",
            Kind::U64 => "UInt64",
            Kind::F64 => "Float64",
            Kind::Bool => "Boolean",
            Kind::Text => "String",
        }
    }
}

/// A value in a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// There is none.
    Null,
    /// A whole number.
    Whole(u64),
    /// A real number.
    Real(f64),
    /// A truth value.
    Bool(bool),
    /// Words.
    Text(Cow<'a, str>),
}

impl From<u8> for Value<'_> {
    fn from(value: u8) -> Self {
        Value::Whole(value.into())
    }
}

impl From<u32> for Value<'_> {
    fn from(value: u32) -> Self {
        Value::Whole(value.into())
    }
}

impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        Value::Whole(value)
    }
}

impl From<usize> for Value<'_> {
    fn from(value: usize) -> Self {
        Value::Whole(value as u64)
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Value::Real(value)
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::Text(value.into())
    }
}

impl From<String> for Value<'_> {
    fn from(value: String) -> Self {
        Value::Text(value.into())
    }
}

/// In seconds.
impl From<Time> for Value<'_> {
    fn from(value: Time) -> Self {
        Value::Real(value.seconds())
    }
}

/// In seconds.
impl From<Duration> for Value<'_> {
    fn from(value: Duration) -> Self {
        Value::Real(value.seconds())
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, T::into)
    }
}
