//! Columns as the page takes them: a line of JSON that names them, spaces up to a multiple of eight bytes, and their values, each
//! column from a multiple of eight bytes on.

use serde_json::{Value, json};
use sojourn_engine::columns::{self, Column, Kind};

/// Rows as objects that name their columns.
pub fn rows<Row>(listed: &[(Column, impl Fn(&Row) -> columns::Value<'_>)], rows: &[Row]) -> Vec<Value> {
    let of_row = |row: &Row| listed.iter().map(|(column, get)| (column.name, of(get(row)))).collect();
    rows.iter().map(of_row).collect()
}

fn of(value: columns::Value<'_>) -> Value {
    match value {
        columns::Value::Null => Value::Null,
        columns::Value::Whole(value) => value.into(),
        columns::Value::Real(value) => value.into(),
        columns::Value::Bool(value) => value.into(),
        columns::Value::Text(text) => text.into(),
    }
}

/// Columns, and other things to be said of them.
pub struct Columns {
    header: Value,
    listed: Vec<Value>,
    values: Vec<u8>,
}

impl Columns {
    pub fn new(header: Value) -> Columns {
        Columns { header, listed: Vec::new(), values: Vec::new() }
    }

    /// Adds the columns of a frame, without those of words.
    pub fn add<Row>(&mut self, frame: &str, listed: &[(Column, impl Fn(&Row) -> columns::Value<'_>)], rows: &[Row]) {
        for (column, get) in listed.iter().filter(|(column, _)| column.kind != Kind::Text) {
            let name = format!("{frame}.{}", column.name);
            let numbers = rows.iter().map(|row| match get(row) {
                columns::Value::Real(value) => value,
                columns::Value::Whole(value) => value as f64,
                _ => f64::NAN,
            });
            match column.kind {
                Kind::U32 => self.indices(&name, numbers.map(|value| value as u32)),
                _ => self.numbers(&name, numbers),
            }
        }
    }

    /// Adds a column of real numbers. What is not known is NaN.
    pub fn numbers(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        self.put(name, "f64", values.map(f64::to_le_bytes));
    }

    /// Adds a column of whole numbers.
    pub fn indices(&mut self, name: &str, values: impl Iterator<Item = u32>) {
        self.put(name, "u32", values.map(u32::to_le_bytes));
    }

    fn put<const BYTES: usize>(&mut self, name: &str, kind: &str, values: impl Iterator<Item = [u8; BYTES]>) {
        let from = self.values.len();
        for value in values {
            self.values.extend(value);
        }
        let length = (self.values.len() - from) / BYTES;
        self.listed.push(json!({ "name": name, "kind": kind, "from": from, "length": length }));
        self.values.resize(self.values.len().next_multiple_of(8), 0);
    }

    pub fn into_bytes(mut self) -> Vec<u8> {
        self.header["columns"] = self.listed.into();
        let mut bytes = self.header.to_string().into_bytes();
        bytes.push(b'\n');
        bytes.resize(bytes.len().next_multiple_of(8), b' ');
        bytes.extend(self.values);
        bytes
    }
}
