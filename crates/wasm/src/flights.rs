//! What each flow has in flight, sampled when its window is: the engine tells it of a moment, not over time.

use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::time::{Duration, Time};

/// Bytes that a flow has in flight at a moment, as Linux counts them: sent, and neither acknowledged nor considered lost.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    pub time: Time,
    pub flow: u32,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Flights {
    interval: Duration,
    next: Time,
    flows: usize,
    taken: Vec<Flight>,
}

impl Flights {
    /// None if the inner states of flows are not sampled.
    pub fn of(specification: &Specification, simulation: &Simulation) -> Option<Flights> {
        let interval = specification.probe.flow_series.filter(|_| specification.probe.flow_state)?;
        Some(Flights { interval, next: Time::ZERO + interval, flows: simulation.flows().count(), taken: Vec::new() })
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
            self.next = self.next + self.interval;
        }
    }

    fn sample(&mut self, simulation: &Simulation) {
        let of = |flow: usize| {
            let info = simulation.tcp_info(flow)?;
            let segments = (info.outstanding + info.retransmitted).saturating_sub(info.sacked + info.lost);
            Some(Flight { time: self.next, flow: flow as u32, bytes: segments * info.mss })
        };
        self.taken.extend((0..self.flows).filter_map(of));
    }

    /// The samples since this was called last.
    pub fn take(&mut self) -> Vec<Flight> {
        std::mem::take(&mut self.taken)
    }
}
