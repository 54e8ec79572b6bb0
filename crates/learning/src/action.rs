//! What an agent may set: the registry of actions.

use serde_json::{Value, json};

use crate::specification::ActionSpecification;

/// What an action changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The congestion window, in bytes here and in segments in scenarios.
    Window,
    /// The pacing rate, in bits a second.
    Rate,
    /// The probability that an arrival is dropped or marked.
    Probability,
}

/// What has agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Flow,
    Queue,
}

impl Target {
    /// Who has it.
    pub fn of(self) -> Of {
        if self == Target::Probability { Of::Queue } else { Of::Flow }
    }
}

/// How it changes that.
#[derive(Clone, Debug, PartialEq)]
enum Rule {
    /// The action is the new value.
    Value,
    /// The action is the part of this many doublings, up or down.
    Factor { doublings: f64 },
    /// The action is the part of this growth; a negative one divides by as much.
    Delta { scale: f64 },
    /// The action is the number of one of these.
    Steps(Vec<Step>),
}

/// A discrete step: times, over, plus or minus a number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Times(f64),
    Plus(f64),
}

/// A kind of action with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    pub target: Target,
    rule: Rule,
    /// The least and the greatest value: segments, bits a second, or a probability.
    least: f64,
    most: f64,
}

/// A kind of action.
struct Kind {
    name: &'static str,
    target: Target,
    rule: &'static str,
    meaning: &'static str,
    source: &'static str,
}

/// All of them.
const KINDS: &[Kind] = &[
    Kind { name: "window", target: Target::Window, rule: "value", meaning: "the window, in segments", source: "" },
    Kind {
        name: "window_factor",
        target: Target::Window,
        rule: "factor",
        meaning: "the window times 2^(doublings a), a from -1 to 1",
        source: "Abbasloo et al., SIGCOMM 2020; Orca, rl-module/envwrapper.py, map_action: 4^a",
    },
    Kind {
        name: "window_delta",
        target: Target::Window,
        rule: "delta",
        meaning: "the window times 1 + scale a, or over 1 - scale a if a is negative; a from -1 to 1",
        source: "Jay et al., ICML 2019; PCC-RL, src/gym/network_sim.py, apply_cwnd_delta",
    },
    Kind {
        name: "window_steps",
        target: Target::Window,
        rule: "steps",
        meaning: "the number of one of steps, which are of segments",
        source: "Sivakumar et al., 2019 (arXiv 1910.04054); mvfst-rl, train/utils.py, get_actions: no change, half, 10 less, 10 more, twice",
    },
    Kind { name: "rate", target: Target::Rate, rule: "value", meaning: "the pacing rate, in bit/s", source: "" },
    Kind {
        name: "rate_factor",
        target: Target::Rate,
        rule: "factor",
        meaning: "the pacing rate times 2^(doublings a), a from -1 to 1",
        source: "as window_factor",
    },
    Kind {
        name: "rate_delta",
        target: Target::Rate,
        rule: "delta",
        meaning: "the pacing rate times 1 + scale a, or over 1 - scale a if a is negative; a from -1 to 1",
        source: "Jay et al., ICML 2019; PCC-RL, src/gym/network_sim.py, apply_rate_delta",
    },
    Kind {
        name: "rate_steps",
        target: Target::Rate,
        rule: "steps",
        meaning: "the number of one of steps, which are of Mbit/s",
        source: "as window_steps",
    },
    Kind {
        name: "probability",
        target: Target::Probability,
        rule: "value",
        meaning: "the probability that an arrival is marked, or dropped if it is not ECN-capable",
        source: "RFC 8033 section 4.2, whose controller sets the same",
    },
];

/// A parameter of a kind: name, kind of value, default, meaning, source.
type Parameter = (&'static str, &'static str, Value, &'static str, &'static str);

/// The unit of a step of a rate, in bits a second.
const MEGABIT: f64 = 1e6;

fn parameters(kind: &Kind) -> Vec<Parameter> {
    let (least, most) = match kind.target {
        Target::Window => (json!(2), json!(5000)),
        Target::Rate => (json!(100_000), json!(10_000_000_000u64)),
        Target::Probability => (json!(0.0), json!(1.0)),
    };
    let (value, source) = match kind.target {
        Target::Window => ("integer", "the greatest is that of PCC-RL, src/gym/network_sim.py, MAX_CWND"),
        Target::Rate => ("rate", "chosen"),
        Target::Probability => ("number", "chosen"),
    };
    let mut listed = vec![
        ("least", value, least, "the least value that it sets", source),
        ("most", value, most, "the greatest value that it sets", source),
    ];
    match kind.rule {
        "factor" => listed.push((
            "doublings",
            "number",
            json!(2.0),
            "doublings at a = 1",
            "Orca, rl-module/envwrapper.py, map_action: 4^a",
        )),
        "delta" => listed.push((
            "scale",
            "number",
            json!(0.025),
            "growth at a = 1",
            "PCC-RL, src/common/config.py, DELTA_SCALE",
        )),
        "steps" => {
            let (default, source) = match kind.target {
                Target::Window => (json!(["*1", "/2", "-10", "+10", "*2"]), "mvfst-rl, train/utils.py, get_actions"),
                _ => (json!(["*1", "/2", "/1.1", "*1.1", "*2"]), "chosen"),
            };
            listed.push((
                "steps",
                "steps",
                default,
                "what each number does: * and / a factor, + and - an amount",
                source,
            ));
        }
        _ => {}
    }
    listed
}

impl Step {
    fn of(text: &str) -> Option<Step> {
        let (sign, number) = text.split_at_checked(1)?;
        let number: f64 = number.trim().parse().ok()?;
        let is_factor = number.is_finite() && number > 0.0;
        match sign {
            "*" if is_factor => Some(Step::Times(number)),
            "/" if is_factor => Some(Step::Times(1.0 / number)),
            "+" if number.is_finite() => Some(Step::Plus(number)),
            "-" if number.is_finite() => Some(Step::Plus(-number)),
            _ => None,
        }
    }
}

impl Action {
    /// The action that a specification names.
    ///
    /// # Errors
    /// One line that says what is wrong and what is allowed.
    pub fn of(specification: &ActionSpecification) -> Result<Action, String> {
        let ActionSpecification { name, parameters: given } = specification;
        let kind = KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
            let names: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
            format!("action: unknown action {name:?} (there are: {})", names.join(", "))
        })?;
        let known = parameters(kind);
        let value = |wanted: &str| {
            let default = known.iter().find(|(name, ..)| *name == wanted).map(|(_, _, default, ..)| default.clone());
            given.get(wanted).cloned().or(default).unwrap_or_default()
        };
        if let Some(unknown) =
            given.as_object().and_then(|given| given.keys().find(|key| known.iter().all(|(name, ..)| name != key)))
        {
            let names: Vec<_> = known.iter().map(|(name, ..)| *name).collect();
            return Err(format!("action: {name} has no parameter {unknown:?} (there are: {})", names.join(", ")));
        }
        let number = |wanted: &str| {
            let given = value(wanted);
            let number = given.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
            number.ok_or_else(|| format!("action: {wanted}: {given} is not a number of 0 or more"))
        };
        let (least, most) = (number("least")?, number("most")?);
        if least > most
            || (kind.target != Target::Probability && least < 1.0)
            || (kind.target == Target::Probability && most > 1.0)
        {
            let allowed =
                if kind.target == Target::Probability { "0 <= least <= most <= 1" } else { "1 <= least <= most" };
            return Err(format!("action: least = {least} and most = {most} are out of range ({allowed})"));
        }
        let rule = match kind.rule {
            "value" => Rule::Value,
            "factor" => Rule::Factor { doublings: number("doublings")? },
            "delta" => Rule::Delta { scale: number("scale")? },
            _ => Rule::Steps(steps(&value("steps"))?),
        };
        Ok(Action { target: kind.target, rule, least, most })
    }

    /// The bounds of a continuous action, or how many steps a discrete one has.
    pub fn space(&self) -> Space {
        match &self.rule {
            Rule::Value => Space::Box { least: self.least, most: self.most },
            Rule::Factor { .. } | Rule::Delta { .. } => Space::Box { least: -1.0, most: 1.0 },
            Rule::Steps(steps) => Space::Discrete(steps.len()),
        }
    }

    /// The value that follows from an action; `current` is the value before. What changes nothing keeps it exactly.
    pub fn apply(&self, action: f64, current: f64) -> f64 {
        let changed = match &self.rule {
            Rule::Value => action,
            Rule::Factor { .. } | Rule::Delta { .. } if action == 0.0 => return current,
            Rule::Factor { doublings } => current * libm::exp2(doublings * action.clamp(-1.0, 1.0)),
            Rule::Delta { scale } => {
                let delta = scale * action.clamp(-1.0, 1.0);
                if delta >= 0.0 { current * (1.0 + delta) } else { current / (1.0 - delta) }
            }
            Rule::Steps(steps) => match steps.get(action as usize) {
                None | Some(Step::Times(1.0)) => return current,
                Some(Step::Times(factor)) => current * factor,
                Some(Step::Plus(0.0)) => return current,
                Some(Step::Plus(amount)) => current + amount * if self.target == Target::Rate { MEGABIT } else { 1.0 },
            },
        };
        changed.clamp(self.least, self.most)
    }
}

fn steps(given: &Value) -> Result<Vec<Step>, String> {
    let wrong = |step: &Value| {
        format!("action: steps: {step} is not a factor such as \"*2\" or \"/2\", or an amount such as \"+10\"")
    };
    let listed = given.as_array().filter(|listed| listed.len() >= 2);
    let listed = listed.ok_or_else(|| format!("action: steps: {given} is not a list of at least two steps"))?;
    listed.iter().map(|step| step.as_str().and_then(Step::of).ok_or_else(|| wrong(step))).collect()
}

/// What an action may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Space {
    /// A number between bounds.
    Box { least: f64, most: f64 },
    /// One of so many, from 0.
    Discrete(usize),
}

impl Space {
    /// How many numbers a policy gives: one, or one for each step.
    pub fn outputs(&self) -> usize {
        match self {
            Space::Box { .. } => 1,
            Space::Discrete(steps) => *steps,
        }
    }

    /// What is wrong with an action, if something is.
    pub fn fault(&self, action: f64) -> Option<String> {
        match *self {
            _ if action.is_nan() => Some("action: is not a number (NaN)".to_owned()),
            Space::Box { least, most } if action < least || action > most => {
                Some(format!("action: {action} is out of bounds (allowed: {least} to {most})"))
            }
            Space::Discrete(steps) if action < 0.0 || action >= steps as f64 || action != libm::floor(action) => {
                Some(format!("action: {action} is no step (allowed: 0 to {})", steps - 1))
            }
            _ => None,
        }
    }
}

/// The actions, for the catalogue.
pub fn catalogue() -> Value {
    let listed = KINDS.iter().map(|kind| {
        let parameters: Vec<_> = parameters(kind)
            .into_iter()
            .map(|(name, kind, default, doc, source)| {
                json!({"name": name, "kind": kind, "default": default, "doc": doc, "source": source})
            })
            .collect();
        let of = if kind.target.of() == Of::Flow { "flow" } else { "queue" };
        let sets = match kind.target {
            Target::Window => "window",
            Target::Rate => "rate",
            Target::Probability => "probability",
        };
        json!({"name": kind.name, "of": of, "sets": sets, "meaning": kind.meaning, "source": kind.source, "parameters": parameters})
    });
    listed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(name: &str, parameters: Value) -> Result<Action, String> {
        Action::of(&ActionSpecification { name: name.to_owned(), parameters })
    }

    /// Each rule gives what its source says, within the bounds; what changes nothing keeps the value, even one beyond the bounds.
    #[test]
    fn rules() {
        let after = |name: &str, given: f64, before: f64| action(name, json!({})).unwrap().apply(given, before);
        assert_eq!(after("window", 30.0, 10.0), 30.0);
        assert_eq!(after("window_factor", 1.0, 10.0), 40.0);
        assert_eq!(after("window_factor", -0.5, 10.0), 5.0);
        assert_eq!(after("window_delta", 1.0, 100.0), 102.49999999999999);
        assert_eq!(after("window_delta", -1.0, 102.5), 102.5 / 1.025);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|step| after("window_steps", f64::from(step), 20.0)),
            [20.0, 10.0, 10.0, 30.0, 40.0]
        );
        assert_eq!(after("rate_steps", 4.0, 5e6), 1e7);
        assert_eq!(after("window_factor", -1.0, 3.0), 2.0);
        assert_eq!(after("window_factor", 0.0, 9e9), 9e9);
        assert_eq!(action("rate_steps", json!({"steps": ["+1", "*1"]})).unwrap().apply(0.0, 5e6), 6e6);
    }

    /// What makes no sense is refused in one line that says what is allowed.
    #[test]
    fn complaints() {
        let wrong = |name: &str, parameters: Value| action(name, parameters).unwrap_err();
        assert!(wrong("windows", json!({})).starts_with("action: unknown action \"windows\" (there are: window, "));
        assert!(wrong("window", json!({"scale": 1})).contains("no parameter \"scale\" (there are: least, most)"));
        assert!(wrong("window", json!({"least": 9, "most": 3})).contains("(1 <= least <= most)"));
        assert!(wrong("window_steps", json!({"steps": ["*0", "+1"]})).contains("\"*0\" is not a factor"));
        assert!(wrong("probability", json!({"most": 2})).contains("<= 1"));
    }

    /// An action outside of its space is told, and one inside is not.
    #[test]
    fn spaces() {
        let space = action("window_steps", json!({})).unwrap().space();
        assert_eq!(space.outputs(), 5);
        assert_eq!((space.fault(4.0), space.fault(5.0).is_some(), space.fault(0.5).is_some()), (None, true, true));
        let space = action("window_factor", json!({})).unwrap().space();
        assert_eq!(space.fault(1.5).unwrap(), "action: 1.5 is out of bounds (allowed: -1 to 1)");
        assert!(space.fault(f64::NAN).is_some());
    }
}
