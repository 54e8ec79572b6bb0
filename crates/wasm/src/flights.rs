//! What the engine tells of a moment, not over time, sampled when windows are: what each flow has in flight, and what has been delivered
//! of the flows without a window.

use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::time::{Duration, Time};

/// Bytes of a flow at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub time: Time,
    pub flow: u32,
    pub bytes: u64,
}

/// Samples since they were taken last.
#[derive(Debug, Default)]
pub struct Taken {
    /// What is in flight, as Linux counts it: sent, and neither acknowledged nor considered lost.
    pub in_flight: Vec<Sample>,
    /// Payload delivered since the start of the run, of flows of which no window is sampled.
    pub delivered: Vec<Sample>,
}

#[derive(Debug)]
pub struct Flights {
    interval: Duration,
    next: Time,
    taken: Taken,
}

impl Flights {
    /// None if the inner states of flows are not sampled.
    pub fn of(specification: &Specification) -> Option<Flights> {
        let interval = specification.probe.flow_series.filter(|_| specification.probe.flow_state)?;
        Some(Flights { interval, next: Time::ZERO + interval, taken: Taken::default() })
    }

    /// Goes on from sample to sample, at most so many events; returns whether all of it has happened.
    pub fn advance(&mut self, simulation: &mut Simulation, until: Time, most_events: u64) -> bool {
        let before = simulation.steps();
        loop {
            let stop = until.min(self.next);
            let left = most_events.saturating_sub(simulation.steps() - before);
            if left == 0 || !simulation.advance(stop, left) {
                return false;
            }
            if stop == until {
                return true;
            }
            self.sample(simulation);
            self.next += self.interval;
        }
    }

    fn sample(&mut self, simulation: &Simulation) {
        let time = self.next;
        for (flow, look) in simulation.flows().enumerate() {
            let of = |bytes: u64| Sample { time, flow: flow as u32, bytes };
            if look.sample.is_none() {
                self.taken.delivered.push(of(look.bytes_delivered));
            }
            if let Some(info) = simulation.tcp_info(flow) {
                let segments = (info.outstanding + info.retransmitted).saturating_sub(info.sacked + info.lost);
                self.taken.in_flight.push(of(segments * info.mss));
            }
        }
    }

    /// The samples since this was called last.
    pub fn take(&mut self) -> Taken {
        std::mem::take(&mut self.taken)
    }
}
