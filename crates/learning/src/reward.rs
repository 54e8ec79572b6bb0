//! What an interval was worth: the registry of rewards.

use serde_json::{Value, json};

use crate::action::Of;
use crate::observer::Measured;
use crate::specification::NamedSpecification;

/// A reward with its parameters.
#[derive(Clone, Debug)]
pub struct Reward {
    about: &'static About,
    parameters: Vec<f64>,
}

/// An entry of the registry.
#[derive(Debug)]
struct About {
    name: &'static str,
    of: Of,
    formula: &'static str,
    source: &'static str,
    parameters: &'static [(&'static str, f64, &'static str)],
    value: Worth,
}

/// How a reward is computed, with its parameters.
#[derive(Debug)]
enum Worth {
    /// From the agent's own interval.
    Own(fn(&Measured, &[f64]) -> f64),
    /// From what is around it, too.
    Around(fn(&Around<'_>, &[f64]) -> f64),
}

/// An interval, and what else rewards are computed from.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// The interval of the agent.
    pub own: &'a Measured,
    /// The agent's interval before it.
    pub before: &'a Measured,
    /// The intervals of all agents that are asked at this time, the agent's among them.
    pub all: &'a [Measured],
    /// The rate of the first link with a queue, in bits a second.
    pub capacity: f64,
}

/// Bits of a packet of PCC-RL: `BYTES_PER_PACKET` of its network_sim.py.
const PACKET: f64 = 8.0 * 1500.0;

/// Bits a second in one of Mbit/s.
const MEGABIT: f64 = 1e6;

/// The round-trip time that counts where an interval had none: the latest known.
fn rtt_of(measured: &Measured) -> f64 {
    if measured.rtt > 0.0 { measured.rtt } else { measured.base_rtt }
}

/// The mean and the standard deviation of some numbers.
fn spread(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64;
    (mean, libm::sqrt(variance))
}

/// All of them.
const REWARDS: &[About] = &[
    About {
        of: Of::Flow,
        name: "pcc",
        formula: "(a throughput - b latency - c loss) scale; throughput in packets of 1500 bytes a second, latency the mean RTT in s",
        source: "Jay et al., ICML 2019; PCC-RL, src/gym/network_sim.py, run_for_dur and REWARD_SCALE",
        parameters: &[
            ("a", 10.0, "weight of throughput"),
            ("b", 1000.0, "weight of latency"),
            ("c", 2000.0, "weight of loss"),
            ("scale", 0.001, "scale of all"),
        ],
        value: Worth::Own(|own, p| (p[0] * own.throughput / PACKET - p[1] * own.rtt - p[2] * own.loss) * p[3]),
    },
    About {
        of: Of::Flow,
        name: "vivace",
        formula: "x^t - b x dRTT/dT - c x loss; x the sending rate in Mbit/s",
        source: "Dong et al., NSDI 2018; PCC-Uspace, src/pcc/pcc_utility_manager.cpp: kSendingRateExponent, \
                 kLatencyCoefficient and kVivaceLossCoefficient in CalculateUtilityProportional, where an RTT that falls \
                 counts as one that stays",
        parameters: &[
            ("t", 0.9, "exponent of the rate"),
            ("b", 900.0, "weight of the RTT gradient"),
            ("c", 11.35, "weight of loss"),
        ],
        value: Worth::Own(|own, p| {
            let rate = own.send_rate / MEGABIT;
            libm::pow(rate, p[0]) - p[1] * rate * own.gradient - p[2] * rate * own.loss
        }),
    },
    About {
        of: Of::Flow,
        name: "orca",
        formula: "(throughput - zeta loss rate) / greatest throughput * min(1, beta base RTT / RTT): power; the loss rate is of bits a second",
        source: "Abbasloo et al., SIGCOMM 2020; Orca, rl-module/envwrapper.py, get_state, where the RTT is the smoothed \
                 one; beta: params.json, delay_margin_coef",
        parameters: &[
            ("zeta", 5.0, "weight of loss"),
            ("beta", 1.25, "RTT up to which delay counts as none, in base RTTs"),
        ],
        value: Worth::Own(|own, p| {
            let lost = own.throughput * own.loss / (1.0 - own.loss).max(f64::MIN_POSITIVE);
            let lost = if own.loss < 1.0 { lost } else { own.send_rate };
            let rtt = rtt_of(own);
            if own.greatest_rate == 0.0 || rtt == 0.0 {
                return 0.0;
            }
            (own.throughput - p[0] * lost) / own.greatest_rate * (p[1] * own.base_rtt / rtt).min(1.0)
        }),
    },
    About {
        of: Of::Flow,
        name: "copa",
        formula: "log throughput - delta log delay; throughput in Mbit/s, at least 0.001, delay the mean RTT in ms",
        source: "Arun and Balakrishnan, NSDI 2018, section 1, U = log lambda - delta log d, where d leaves out the propagation \
                 delay; delta: section 2.2",
        parameters: &[("delta", 0.5, "weight of delay")],
        value: Worth::Own(|own, p| {
            let rtt = rtt_of(own).max(1e-6);
            libm::log((own.throughput / MEGABIT).max(1e-3)) - p[0] * libm::log(1e3 * rtt)
        }),
    },
    About {
        of: Of::Flow,
        name: "astraea",
        formula: "a sum of throughputs / link rate - b (mean of RTT / base RTT - 1) - c mean loss - d deviation of throughputs / their sum - \
                  e |throughput - that before| / their sum; over all agents of the run, but the last, which is the agent's own",
        source: "Liao et al., EuroSys 2024, section 3.3, equations 4 to 8. There fairness and stability are over the last w \
                 intervals, here over one and two; stability is the mean over all; latency is in seconds above a tolerance, \
                 times the pacing rate; and loss is over throughput. The paper does not print the weights, which are chosen \
                 here; section 5 finds fairness with 0.05 to 0.35 for d",
        parameters: &[
            ("a", 1.0, "weight of throughput"),
            ("b", 0.2, "weight of latency"),
            ("c", 1.0, "weight of loss"),
            ("d", 0.2, "weight of unfairness"),
            ("e", 0.1, "weight of instability"),
        ],
        value: Worth::Around(|&Around { own, before, all, capacity }, p| {
            let rates: Vec<f64> = all.iter().map(|each| each.throughput).collect();
            let (mean, deviation) = spread(&rates);
            let count = all.len() as f64;
            let latency = |each: &Measured| if each.base_rtt > 0.0 { rtt_of(each) / each.base_rtt - 1.0 } else { 0.0 };
            let late = all.iter().map(latency).sum::<f64>() / count;
            let lost = all.iter().map(|each| each.loss).sum::<f64>() / count;
            let unfair = if mean > 0.0 { deviation / (mean * count) } else { 0.0 };
            let both = own.throughput + before.throughput;
            let is_known = before.seconds > 0.0 && both > 0.0;
            let unstable = if is_known { (own.throughput - before.throughput).abs() / both } else { 0.0 };
            p[0] * mean * count / capacity - p[1] * late - p[2] * lost - p[3] * unfair - p[4] * unstable
        }),
    },
    About {
        of: Of::Queue,
        name: "aqm",
        formula: "a throughput / link rate - b mean sojourn time / target - c loss; target in s",
        source: "chosen here; the target is PIE's (RFC 8033 section 4.2)",
        parameters: &[
            ("a", 1.0, "weight of throughput"),
            ("b", 0.1, "weight of sojourn time"),
            ("c", 1.0, "weight of loss"),
            ("target", 0.015, "sojourn time that costs b"),
        ],
        value: Worth::Own(|own, p| {
            // A link that stands still for a while has a rate of zero.
            let used = if own.link_rate > 0.0 { own.throughput / own.link_rate } else { 0.0 };
            p[0] * used - p[1] * own.rtt / p[3] - p[2] * own.loss
        }),
    },
];

impl Reward {
    /// The reward that a specification names.
    ///
    /// # Errors
    /// One line that says what is wrong and what is allowed.
    pub fn of(specification: &NamedSpecification, of: Of) -> Result<Reward, String> {
        let NamedSpecification { name, parameters: given } = specification;
        let about =
            REWARDS.iter().filter(|about| about.of == of).find(|about| about.name == name).ok_or_else(|| {
                let names: Vec<_> = REWARDS.iter().filter(|about| about.of == of).map(|about| about.name).collect();
                format!("reward: unknown reward {name:?} (there are: {})", names.join(", "))
            })?;
        if let Some(unknown) = given
            .as_object()
            .and_then(|given| given.keys().find(|key| about.parameters.iter().all(|(name, ..)| name != key)))
        {
            let names: Vec<_> = about.parameters.iter().map(|(name, ..)| *name).collect();
            return Err(format!("reward: {name} has no parameter {unknown:?} (there are: {})", names.join(", ")));
        }
        let value = |(name, default, _): &(&str, f64, &str)| match given.get(*name) {
            None => Ok(*default),
            Some(given) => given.as_f64().ok_or_else(|| format!("reward: {name}: {given} is not a number")),
        };
        Ok(Reward { about, parameters: about.parameters.iter().map(value).collect::<Result<_, _>>()? })
    }

    /// What an interval was worth.
    pub fn value(&self, around: &Around<'_>) -> f64 {
        match self.about.value {
            Worth::Own(value) => value(around.own, &self.parameters),
            Worth::Around(value) => value(around, &self.parameters),
        }
    }

    /// The same from the agent's own interval; none if that is not enough.
    pub fn of_own(&self, own: &Measured) -> Option<f64> {
        match self.about.value {
            Worth::Own(value) => Some(value(own, &self.parameters)),
            Worth::Around(_) => None,
        }
    }
}

/// The rewards, for the catalogue.
pub fn catalogue() -> Value {
    let listed = REWARDS.iter().map(|about| {
        let parameters: Vec<_> = about
            .parameters
            .iter()
            .map(|(name, default, doc)| json!({"name": name, "kind": "number", "default": default, "doc": doc}))
            .collect();
        json!({"name": about.name, "of": if about.of == Of::Flow { "flow" } else { "queue" }, "formula": about.formula, "source": about.source, "parameters": parameters})
    });
    listed.collect()
}
