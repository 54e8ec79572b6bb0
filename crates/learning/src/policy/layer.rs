//! A dense layer of a network: weights, biases and a function of each sum.

use serde::Deserialize;

/// A layer as a specification has it: a row of weights for each output.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerSpecification {
    weights: Vec<Vec<f64>>,
    biases: Vec<f64>,
    #[serde(default)]
    function: Function,
}

/// What a layer makes of each sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Function {
    #[default]
    Identity,
    Tanh,
    Relu,
    Sigmoid,
    /// Within two bounds.
    Clip(f64, f64),
}

impl LayerSpecification {
    /// How many numbers it has.
    pub fn numbers(&self) -> usize {
        self.weights.iter().map(Vec::len).sum::<usize>() + self.biases.len()
    }

    /// How many numbers it gives.
    pub fn outputs(&self) -> usize {
        self.weights.len()
    }
}

/// A layer that was checked.
#[derive(Debug)]
pub struct Layer {
    /// Row after row.
    weights: Vec<f64>,
    biases: Vec<f64>,
    function: Function,
}

impl Layer {
    /// A layer with so many inputs.
    ///
    /// # Errors
    /// What is wrong with its shape.
    pub fn of(read: &LayerSpecification, inputs: usize) -> Result<Layer, String> {
        let LayerSpecification { weights, biases, function } = read;
        if weights.is_empty() || inputs == 0 {
            return Err("weights: has no numbers".to_owned());
        }
        if let Some((row, wrong)) = weights.iter().enumerate().find(|(_, row)| row.len() != inputs) {
            return Err(format!("weights: row {row} has {} numbers; there are {inputs} inputs", wrong.len()));
        }
        if biases.len() != weights.len() {
            return Err(format!("biases: has {} numbers; there are {} rows of weights", biases.len(), weights.len()));
        }
        if let Function::Clip(least, most) = *function
            && least > most
        {
            return Err(format!("function: clip: {least} is above {most}"));
        }
        Ok(Layer { weights: weights.concat(), biases: biases.clone(), function: *function })
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

impl Function {
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
