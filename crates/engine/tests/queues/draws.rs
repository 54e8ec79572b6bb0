//! Which disciplines draw random numbers.

use serde_json::json;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{Discipline, Limit, QueueDiscipline};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use super::bench::{Bench, drive, packet};

/// At twice the link's rate a discipline leaves its random stream untouched if and only if the catalogue says that it draws
/// nothing, or nothing with other rules: `sojourn check` tells from that what is random in a scenario.
#[test]
fn draws_are_declared() {
    let transmission = Duration::from_microseconds(1_200);
    for (about, _) in Discipline::catalogue() {
        let drawing = Discipline::random_rules(about.name).map(|rules| json!({ "rules": rules }));
        for parameters in [json!({})].into_iter().chain(drawing.clone()) {
            let mut queue =
                Discipline::new(about.name, Some(Limit::Packets(200)), &parameters).expect("these are valid");
            queue.set_link_rate(Rate(10_000_000));
            let arrivals = (0..16_000u64).map(|number| {
                let flow = number as u32 % 5;
                (Time::ZERO + Duration::from_microseconds(600 * number), Packet { number, flow, ..packet(1500, 0) })
            });
            let mut bench = Bench::new(queue, 1);
            drive(&mut bench, transmission, arrivals, Time::ZERO + Duration::from_seconds(9), |_, _, _| ());
            let drew = bench.random.bits() != Random::stream(1, Purpose::Queue, 0).bits();
            let declared = Discipline::random(about.name).is_some()
                && drawing.as_ref().is_none_or(|drawing| *drawing == parameters);
            assert_eq!(drew, declared, "{} with {parameters} draws random numbers: {drew}", about.name);
        }
    }
}
