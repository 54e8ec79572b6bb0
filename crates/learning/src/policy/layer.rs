//! A dense layer of a network: weights, biases and a function of each sum.

use serde_json::{Map, Value};

/// The keys of a layer.
const KEYS: [&str; 3] = ["weights", "biases", "function"];

/// What a layer makes of each sum.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    Identity,
    Tanh,
    Relu,
    Sigmoid,
    /// Within two bounds.
    Clip(f64, f64),
}

/// The functions that have a name alone.
const FUNCTIONS: [(&str, Function); 4] = [
    ("identity", Function::Identity),
    ("tanh", Function::Tanh),
    ("relu", Function::Relu),
    ("sigmoid", Function::Sigmoid),
];

/// The key of the function that has two bounds.
const CLIP: &str = "clip";

/// A layer that was checked.
#[derive(Debug)]
pub struct Layer {
    /// Row after row, one for each output.
    weights: Vec<f64>,
    biases: Vec<f64>,
    function: Function,
    pub inputs: usize,
}

impl Layer {
    /// A layer of plain data.
    ///
    /// # Errors
    /// One line that says what in it is wrong and what is allowed.
    pub fn of(data: &Value) -> Result<Layer, String> {
        let table = data.as_object().filter(|table| is_layer(table));
        let table = table
            .ok_or_else(|| ": must be a table with \"weights\", \"biases\" and perhaps \"function\"".to_owned())?;
        let rows = table["weights"].as_array().filter(|rows| !rows.is_empty());
        let rows: Option<Vec<Vec<f64>>> = rows.and_then(|rows| rows.iter().map(numbers).collect());
        let rows = rows.filter(|rows| rows.iter().all(|row| !row.is_empty()));
        let rows = rows.ok_or(".weights: must be a list of rows of numbers")?;
        let inputs = rows[0].len();
        if rows.iter().any(|row| row.len() != inputs) {
            return Err(".weights: its rows differ in length".to_owned());
        }
        let biases = numbers(&table["biases"]).ok_or(".biases: must be a list of numbers")?;
        if biases.len() != rows.len() {
            return Err(format!(".biases: {} numbers; there are {} rows of weights", biases.len(), rows.len()));
        }
        let function = table.get("function").map_or(Ok(Function::Identity), Function::read)?;
        Ok(Layer { weights: rows.concat(), biases, function, inputs })
    }

    /// How many numbers it gives.
    pub fn outputs(&self) -> usize {
        self.biases.len()
    }

    /// How many numbers it has.
    pub fn size(&self) -> usize {
        self.weights.len() + self.biases.len()
    }

    /// What it gives.
    pub fn apply(&self, inputs: &[f64]) -> Vec<f64> {
        let rows = self.weights.chunks_exact(inputs.len());
        let sums = rows
            .zip(&self.biases)
            .map(|(row, bias)| row.iter().zip(inputs).fold(0.0, |sum, (weight, input)| sum + weight * input) + bias);
        sums.map(|sum| self.function.of(sum)).collect()
    }
}

fn is_layer(table: &Map<String, Value>) -> bool {
    let is_whole = table.contains_key("weights") && table.contains_key("biases");
    is_whole && table.keys().all(|key| KEYS.contains(&key.as_str()))
}

/// A list of numbers, if it is one.
fn numbers(data: &Value) -> Option<Vec<f64>> {
    data.as_array()?.iter().map(Value::as_f64).collect()
}

impl Function {
    fn read(data: &Value) -> Result<Function, String> {
        let named = data.as_str().and_then(|name| FUNCTIONS.iter().find(|(known, _)| *known == name));
        let clip = || {
            let bounds = data.as_object().filter(|table| table.len() == 1)?.get(CLIP)?;
            let bounds: [f64; 2] = numbers(bounds)?.try_into().ok()?;
            (bounds[0] <= bounds[1]).then_some(Function::Clip(bounds[0], bounds[1]))
        };
        named.map(|(_, function)| *function).or_else(clip).ok_or_else(|| {
            let names: Vec<_> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
            format!(".function: {data} is none of {} and {{\"clip\": [least, most]}}", names.join(", "))
        })
    }

    fn of(self, sum: f64) -> f64 {
        match self {
            Function::Identity => sum,
            Function::Tanh => libm::tanh(sum),
            // What is no number stays none, which `max` would make the bound.
            Function::Relu if sum < 0.0 => 0.0,
            Function::Relu => sum,
            Function::Sigmoid => 1.0 / (1.0 + libm::exp(-sum)),
            Function::Clip(least, most) => sum.clamp(least, most),
        }
    }
}
