//! Policies: small networks that decide by themselves, as training leaves them.
//!
//! What a network gives is computed in double precision, sums from the first input to the last, with the functions of `libm`: the
//! same bits on any machine.

mod layer;

use std::sync::Arc;

use serde_json::Value;

use crate::action::Space;
use crate::agent::Makes;
use crate::decider::Decider;
use layer::Layer;

/// The most numbers that a network may have: each run's specification has them all.
pub const MOST_NUMBERS: usize = 100_000;

/// The keys of a policy in a file.
const LAYERS: &str = "layers";
const AGENT: &str = "agent";

/// Checks the text of a policy's file, which is JSON.
///
/// # Errors
/// One line that says where it is wrong and what is allowed.
pub fn check(text: &str) -> Result<(), String> {
    let data: Value = serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
    if !data.get(AGENT).is_none_or(Value::is_object) {
        return Err(format!("{AGENT}: must be a table"));
    }
    layers_of(&data, &[LAYERS, AGENT]).map(|_| ())
}

/// The layers of a table with these keys, each of whose inputs are the outputs of the one before.
fn layers_of(data: &Value, keys: &[&str]) -> Result<Vec<Layer>, String> {
    let table = data.as_object().filter(|table| table.keys().all(|key| keys.contains(&key.as_str())));
    let read = table.and_then(|table| table.get(LAYERS)).and_then(Value::as_array);
    let read = read.ok_or_else(|| format!("must be a table with \"{LAYERS}\", a list, and perhaps \"{AGENT}\""))?;
    let one = |(place, layer)| Layer::of(layer).map_err(|wrong| format!("{LAYERS}.{place}{wrong}"));
    let layers = read.iter().enumerate().map(one).collect::<Result<Vec<_>, _>>()?;
    if layers.is_empty() {
        return Err(format!("{LAYERS}: at least one is needed"));
    }
    for (place, pair) in layers.windows(2).enumerate() {
        let (gives, takes) = (pair[0].outputs(), pair[1].inputs);
        if gives != takes {
            return Err(format!(
                "{LAYERS}.{}.weights: {takes} numbers in a row; layer {place} gives {gives}",
                place + 1
            ));
        }
    }
    let size: usize = layers.iter().map(Layer::size).sum();
    if size > MOST_NUMBERS {
        return Err(format!("has {size} numbers; at most {MOST_NUMBERS} are allowed"));
    }
    Ok(layers)
}

/// A network that was checked.
#[derive(Clone, Debug)]
pub struct Network(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    layers: Vec<Layer>,
    space: Space,
}

impl Network {
    /// The network of a specification, which sees so many numbers and decides in a space.
    ///
    /// # Errors
    /// One line that says which layer is wrong and what is allowed.
    pub fn of(value: &Value, inputs: usize, space: Space) -> Result<Network, String> {
        let layers = layers_of(value, &[LAYERS]).map_err(|wrong| format!("policy: {wrong}"))?;
        let takes = layers[0].inputs;
        if takes != inputs {
            return Err(format!("policy: {LAYERS}.0.weights: {takes} numbers in a row; the observation has {inputs}"));
        }
        let (gives, outputs) = (layers.last().map_or(0, Layer::outputs), space.outputs());
        if gives != outputs {
            return Err(format!("policy: gives {gives} numbers; the action takes {outputs}"));
        }
        Ok(Network(Arc::new(Inner { layers, space })))
    }

    /// What the last layer gives.
    pub fn outputs(&self, observation: &[f32]) -> Vec<f64> {
        let first = observation.iter().map(|number| f64::from(*number)).collect();
        self.0.layers.iter().fold(first, |inputs, layer| layer.apply(&inputs))
    }
}

impl Makes for Network {
    fn decider(&self, _number: u32) -> Box<dyn Decider> {
        Box::new(Policy(self.clone()))
    }
}

/// A network that decides: the only output is the action, or the greatest of several has its place, the first of equal ones.
#[derive(Debug)]
struct Policy(Network);

impl Decider for Policy {
    fn decide(&mut self, observation: &[f32]) -> Option<f64> {
        let outputs = self.0.outputs(observation);
        match self.0.0.space {
            Space::Box { .. } => outputs.first().copied(),
            Space::Discrete(_) => {
                let greatest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                outputs.iter().position(|output| *output == greatest).map(|place| place as f64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const ANY: Space = Space::Box { least: -1.0, most: 1.0 };

    /// A layer is weights times inputs plus biases, then its function: worked by hand.
    #[test]
    fn worked_by_hand() {
        let network = json!({"layers": [
            {"weights": [[1.0, 2.0], [-3.0, 0.5]], "biases": [0.5, 1.0], "function": "relu"},
            {"weights": [[2.0, -1.0]], "biases": [0.25]},
        ]});
        let network = Network::of(&network, 2, ANY).unwrap();
        // relu(1 + 4 + 0.5, -3 + 1 + 1) = (5.5, 0); 2 * 5.5 + 0.25.
        assert_eq!(network.outputs(&[1.0, 2.0]), [11.25]);
        // relu(-1 + 0 + 0.5, 3 + 0 + 1) = (0, 4); -4 + 0.25.
        assert_eq!(network.outputs(&[-1.0, 0.0]), [-3.75]);
    }

    /// The functions are those of their names; the values are Abramowitz and Stegun's, tables 4.17 (tanh 1) and 4.4 (e^-1).
    #[test]
    fn functions() {
        let of = |function: Value, input: f32| {
            let network = json!({"layers": [{"weights": [[1.0]], "biases": [0.0], "function": function}]});
            Network::of(&network, 1, ANY).unwrap().outputs(&[input])[0]
        };
        assert!((of(json!("tanh"), 1.0) - 0.761_594_155_9).abs() < 1e-10);
        assert!((of(json!("sigmoid"), 1.0) - 1.0 / (1.0 + 0.367_879_441_2)).abs() < 1e-10);
        assert_eq!(of(json!("identity"), -0.25), -0.25);
        assert_eq!(of(json!({"clip": [-0.5, 0.5]}), 2.0), 0.5);
        assert_eq!([of(json!("relu"), -1.0), of(json!("relu"), 3.0)], [0.0, 3.0]);
    }

    /// Of several outputs the greatest decides, and of equal ones the first.
    #[test]
    fn greatest_output() {
        let network = json!({"layers": [{"weights": [[1.0], [2.0], [2.0]], "biases": [0.0, 0.0, 0.0]}]});
        let mut policy = Network::of(&network, 1, Space::Discrete(3)).unwrap().decider(0);
        assert_eq!(
            [policy.decide(&[1.0]), policy.decide(&[-1.0]), policy.decide(&[0.0])],
            [Some(1.0), Some(0.0), Some(0.0)]
        );
    }

    /// What is no number decides nothing, rather than the first step.
    #[test]
    fn not_a_number() {
        let network = json!({"layers": [{"weights": [[1.0], [1.0]], "biases": [0.0, 0.0]}]});
        let mut policy = Network::of(&network, 1, Space::Discrete(2)).unwrap().decider(0);
        assert_eq!(policy.decide(&[f32::NAN]), None);
    }

    /// A network of the wrong shape is refused in one line that names the layer, what it has and what is wanted.
    #[test]
    fn wrong_shapes() {
        let one = json!({"weights": [[1.0, 2.0]], "biases": [0.0]});
        for (layers, inputs, space, complaint) in [
            (json!([]), 2, ANY, "policy: layers: at least one is needed"),
            (json!([one]), 3, ANY, "policy: layers.0.weights: 2 numbers in a row; the observation has 3"),
            (json!([one, one]), 2, ANY, "policy: layers.1.weights: 2 numbers in a row; layer 0 gives 1"),
            (json!([one]), 2, Space::Discrete(5), "policy: gives 1 numbers; the action takes 5"),
            (
                json!([{"weights": [[1.0], [1.0]], "biases": [0.0]}]),
                1,
                ANY,
                "policy: layers.0.biases: 1 numbers; there are 2 rows of weights",
            ),
            (
                json!([{"weights": [[1.0]], "biases": [0.0], "function": {"clip": [1.0, -1.0]}}]),
                1,
                ANY,
                "policy: layers.0.function: {\"clip\":[1.0,-1.0]} is none of identity, tanh, relu, sigmoid and {\"clip\": [least, most]}",
            ),
        ] {
            assert_eq!(Network::of(&json!({"layers": layers}), inputs, space).unwrap_err(), complaint);
        }
        let unknown = json!({"layers": [{"weights": [[1.0]], "biases": [0.0], "function": "gelu"}]});
        let complaint = Network::of(&unknown, 1, ANY).unwrap_err();
        assert!(complaint.contains("gelu") && complaint.contains("tanh"), "{complaint}");
        let row = vec![0.0; MOST_NUMBERS];
        let large = json!({"layers": [{"weights": [row], "biases": [0.0]}]});
        let complaint = Network::of(&large, MOST_NUMBERS, ANY).unwrap_err();
        assert_eq!(complaint, "policy: has 100001 numbers; at most 100000 are allowed");
    }

    proptest! {
        /// Of two layers without a function between them, the product of the matrices gives the same.
        #[test]
        fn linear_layers_multiply(
            first in proptest::array::uniform4(-4i8..4),
            second in proptest::array::uniform2(-4i8..4),
            inputs in proptest::array::uniform2(-8i8..8),
        ) {
            let [a, b, c, d] = first.map(f64::from);
            let [p, q] = second.map(f64::from);
            let both = json!({"layers": [
                {"weights": [[a, b], [c, d]], "biases": [0.0, 0.0]},
                {"weights": [[p, q]], "biases": [0.0]},
            ]});
            let product = json!({"layers": [{"weights": [[p * a + q * c, p * b + q * d]], "biases": [0.0]}]});
            let inputs = inputs.map(f32::from);
            let outputs = [both, product].map(|network| Network::of(&network, 2, ANY).unwrap().outputs(&inputs));
            prop_assert_eq!(&outputs[0], &outputs[1]);
        }
    }
}
