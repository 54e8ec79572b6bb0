//! Any sequence of steps at a discipline: each step is three bytes of the input.

#[path = "../../engine/tests/properties/queues/run.rs"]
mod run;

use bolero::TypeGenerator;
use sojourn_engine::queue::{Discipline, Limit};
use sojourn_engine::time::Duration;
use sojourn_engine::units::Rate;

use self::run::{Case, FLOWS, Step, parameters, run};

/// The fuzzer's input.
#[derive(Clone, Debug, TypeGenerator)]
struct Input {
    discipline: u8,
    /// Of the limit: one bit for the unit, the others for the size. Zero for no limit.
    limit: u8,
    choices: Vec<u8>,
    gap: u8,
    seed: u64,
    steps: Vec<(u8, u8, u8)>,
}

/// Of eight kinds of steps, four are arrivals, two departures, one an idle time of up to 65 s and one a change of the
/// link's rate.
fn step((kind, high, low): (u8, u8, u8)) -> Step {
    let number = u64::from(high) << 8 | u64::from(low);
    match kind % 8 {
        0..4 => Step::Arrival { size: 40 + (number % 1461) as u16, flow: u32::from(kind / 8) % FLOWS },
        4 | 5 => Step::Departure,
        6 => Step::Idle(Duration::from_milliseconds(number)),
        _ => Step::LinkRate(Rate((number + 1) * 20_000)),
    }
}

fn limit(byte: u8) -> Option<Limit> {
    match (byte >> 1, byte & 1) {
        (0, 0) => None,
        (size, 0) => Some(Limit::Packets(u64::from(size))),
        (size, _) => Some(Limit::Bytes(u64::from(size) * 500 + 1)),
    }
}

/// For any sequence of arrivals, departures, idle times and rates the properties that `run` checks are satisfied.
#[test]
fn any_sequence() {
    let catalogue = Discipline::catalogue();
    bolero::check!().with_type::<Input>().cloned().for_each(|input| {
        let (about, descriptions) = &catalogue[usize::from(input.discipline) % catalogue.len()];
        let mut choices = input.choices.iter();
        let case = Case {
            limit: limit(input.limit),
            parameters: parameters(descriptions, |of| choices.next().map_or(0, |choice| usize::from(*choice) % of)),
            steps: input.steps.into_iter().map(step).collect(),
            gap: Duration::from_microseconds(1 + 50 * u64::from(input.gap)),
            seed: input.seed,
        };
        run(about.name, about.class, &case).unwrap_or_else(|error| panic!("{}: {error}", about.name));
    });
}
