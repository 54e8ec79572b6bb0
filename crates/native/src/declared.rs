//! The parameters that a library declares, and the state that holds them.

use std::cell::UnsafeCell;
use std::ffi::{c_char, c_void};

use serde_json::{Value, json};

use crate::interface::Parameter;
use crate::text;

/// Kinds of parameters by number, as the engine's catalogue calls them.
const KINDS: [&str; 7] = ["", "number", "integer", "boolean", "duration", "size", "rate"];

const NUMBER: u32 = 1;
const BOOLEAN: u32 = 3;

/// The state of a flow or queue, aligned as memory from `malloc` is.
#[derive(Debug)]
pub struct State(Vec<UnsafeCell<u128>>);

impl State {
    fn of(words: impl Iterator<Item = u128>) -> State {
        State(words.map(UnsafeCell::new).collect())
    }

    /// Where it begins. Hooks may write there, those among them that the engine calls through a shared reference.
    pub fn pointer(&self) -> *mut c_void {
        self.0.as_ptr().cast_mut().cast()
    }
}

impl Clone for State {
    fn clone(&self) -> State {
        // SAFETY: no hook is running, and nothing keeps a reference to a word.
        State::of(self.0.iter().map(|word| unsafe { *word.get() }))
    }
}

/// The largest state, in bytes: each flow has one.
const LARGEST_STATE: u64 = 1 << 24;

/// The parameters of a list that ends with kind 0.
fn listed(parameters: *const Parameter) -> Vec<Parameter> {
    let mut found = Vec::new();
    if parameters.is_null() {
        return found;
    }
    for place in 0.. {
        // SAFETY: the interface says that the list goes on up to an entry of kind 0.
        let parameter = unsafe { *parameters.add(place) };
        if parameter.kind == 0 {
            break;
        }
        found.push(parameter);
    }
    found
}

/// A value as a specification writes it.
fn value(parameter: &Parameter, value: f64) -> Value {
    match parameter.kind {
        NUMBER => json!(value),
        BOOLEAN => json!(value != 0.0),
        _ => json!(value as u64),
    }
}

/// What is declared, as JSON, with the inner state that is shown.
pub fn describe(
    title: *const c_char,
    source: *const c_char,
    draws: *const c_char,
    parameters: *const Parameter,
    state_bytes: u64,
    state: Value,
) -> Result<Value, String> {
    let mut described = Vec::new();
    for parameter in listed(parameters) {
        let name = text(parameter.name).unwrap_or_default();
        let Some(kind) = KINDS.get(parameter.kind as usize) else {
            return Err(format!("parameter {name}: kind {} is unknown", parameter.kind));
        };
        if parameter.bytes != 8 {
            let wanted = if parameter.kind == NUMBER { "double" } else { "uint64_t" };
            return Err(format!(
                "parameter {name}: a {kind} is held in a {wanted} of 8 bytes, not {}",
                parameter.bytes
            ));
        }
        if parameter.offset + 8 > state_bytes {
            return Err(format!("parameter {name}: lies outside of the state, which has {state_bytes} bytes"));
        }
        let is_bounded = parameter.kind != BOOLEAN;
        described.push(json!({
            "name": name,
            "kind": kind,
            "default": value(&parameter, parameter.initial),
            "doc": text(parameter.meaning).unwrap_or_default(),
            "minimum": is_bounded.then_some(parameter.least),
            "maximum": is_bounded.then_some(parameter.most),
        }));
    }
    Ok(json!({
        "title": text(title).unwrap_or_default(),
        "source": text(source).unwrap_or_default(),
        "random": text(draws),
        "parameters": described,
        "state": state,
    }))
}

/// A state with the parameters in it, the rest zero.
///
/// # Errors
/// One line if a value is of another kind, or the state is too large.
pub fn state(parameters: *const Parameter, state_bytes: u64, values: &Value) -> Result<State, String> {
    if state_bytes > LARGEST_STATE {
        return Err(format!("state_bytes is {state_bytes}; at most {LARGEST_STATE} are allowed"));
    }
    let mut bytes = vec![0u8; (state_bytes as usize).next_multiple_of(16)];
    for parameter in listed(parameters) {
        let name = text(parameter.name).unwrap_or_default();
        let set = match parameter.kind {
            NUMBER => values[&name].as_f64().map(f64::to_ne_bytes),
            BOOLEAN => values[&name].as_bool().map(|flag| u64::from(flag).to_ne_bytes()),
            _ => values[&name].as_u64().map(u64::to_ne_bytes),
        };
        let set = set.ok_or_else(|| format!("{name}: {} is no value of this parameter", values[&name]))?;
        let place = parameter.offset as usize;
        bytes
            .get_mut(place..place + 8)
            .ok_or_else(|| format!("{name}: lies outside of the state"))?
            .copy_from_slice(&set);
    }
    let words = bytes.chunks_exact(16).map(|chunk| {
        let mut word = [0; 16];
        word.copy_from_slice(chunk);
        u128::from_ne_bytes(word)
    });
    Ok(State::of(words))
}
