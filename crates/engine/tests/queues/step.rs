//! Step marking: the rule of Alizadeh et al. (SIGCOMM 2010), section 3.1.

use sojourn_engine::packet::flags;
use sojourn_engine::queue::{DropCause, Limit, Step, StepParameters};
use sojourn_engine::time::Time;

use super::bench::{Bench, packet};

/// An arriving packet is marked if the queue is longer than the threshold when it arrives, and not otherwise, in packets or bytes.
/// What cannot be marked is queued as it is, and only the limit drops.
#[test]
fn marked_above_the_threshold() {
    for (mark, capable) in [(Limit::Packets(5), true), (Limit::Bytes(5 * 1500), true), (Limit::Packets(5), false)] {
        let mut bench = Bench::new(Step::new(Limit::Packets(10), StepParameters { mark }), 1);
        for _ in 0..12 {
            bench.enqueue(Time::ZERO, packet(1500, if capable { flags::ECT_0 } else { 0 }));
        }
        let sent: Vec<bool> =
            (0..10).map(|_| bench.dequeue(Time::ZERO).expect("ten are queued").packet.is_marked()).collect();
        // Arrivals number one to six find at most five packets.
        let expected: Vec<bool> = (0..10).map(|found| capable && found > 5).collect();
        assert_eq!(sent, expected, "{mark:?}");
        assert_eq!((bench.drops(DropCause::Overflow), bench.drops(DropCause::Early)), (2, 0));
    }
}
