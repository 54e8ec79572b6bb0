//! TCP-LP: Kuzmanovic and Knightly, "TCP-LP: A Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003. A
//! variant of Reno that reduces its window before losses occur, as soon as one-way delays indicate that other flows are
//! building a queue.

use std::sync::Arc;

use super::linux::lp::LpClock;
use super::newreno::AdditiveIncrease;
use super::ns3::Rules;
use super::{Ack, CongestionControl, CongestionEvent, Delivery, Needs};
use crate::about::{About, Listed};
use crate::parameters;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

parameters! {
    /// Parameters of TCP-LP.
    pub struct LpParameters {
        delta: f64 = 0.15, in 0 .. 1, "Share of the range of delays above which the smoothed delay indicates congestion", "Kuzmanovic and Knightly 2003; Linux tcp_lp.c, 15 / 100";
        gamma: f64 = 0.125, in 0.001 .. 1, "Weight of a new sample in the smoothed delay", "Kuzmanovic and Knightly 2003; Linux tcp_lp.c, 1 / 8";
        inference: u64 = 3, in 0 .. 1000, "Round trips of the inference phase", "Linux tcp_lp.c, inference";
        rules: Rules = Rules::Published, "Whose delays: linux takes them from timestamps in milliseconds and forgets their range at each indication, whatever the other parameters are; ns3 too, but without an estimate of the receiver's clock, and leaves ssthresh, so that slow start follows", "Linux tcp_lp.c, tcp_lp_owd_calculator and tcp_lp_pkts_acked; ns-3 tcp-lp.cc, OwdCalculator and PktsAcked";
    }
}

/// The TCP-LP congestion control.
#[derive(Clone, Debug)]
pub struct Lp {
    parameters: Arc<LpParameters>,
    additive: AdditiveIncrease,
    delays: Option<Delays>,
    /// When the window was last reduced.
    reduced: Option<Time>,
    /// The end of the inference phase.
    inference_ends: Time,
    /// By the rules of Linux or ns-3.
    clock: Option<Box<LpClock>>,
}

/// The one-way delays of the connection, in seconds.
#[derive(Clone, Copy, Debug)]
struct Delays {
    smoothed: f64,
    least: f64,
    /// The second largest delay. The largest may be an outlier.
    great: f64,
    greatest: f64,
}

impl Delays {
    fn new(delay: f64) -> Delays {
        Delays { smoothed: delay, least: delay, great: delay, greatest: delay }
    }

    fn take(&mut self, delay: f64, gamma: f64) {
        self.least = self.least.min(delay);
        self.great = self.great.max(delay.min(self.greatest));
        self.greatest = self.greatest.max(delay);
        self.smoothed += gamma * (delay - self.smoothed);
    }

    /// Early congestion indication: d > d_min + (d_max - d_min) delta.
    fn indicate_congestion(&self, delta: f64) -> bool {
        self.smoothed > self.least + (self.great - self.least) * delta
    }
}

impl Listed for Lp {
    const ABOUT: About = About {
        name: "lp",
        aliases: &["tcp-lp"],
        title: "TCP-LP",
        class: "delay",
        year: 2003,
        source: "Kuzmanovic and Knightly, INFOCOM 2003; constants of Linux tcp_lp.c",
        deviations: "as in Linux, the maximum delay is the second-largest sample; as in the paper and unlike in Linux, \
                     minimum and maximum delay are kept for the whole connection, even after an indication, and \
                     indications count only in congestion avoidance, and not within a round trip of the last reduction; \
                     they act on acknowledgements that may grow the window; round trips are smoothed RTTs; with rules \
                     linux all this is as there, with timestamps that have no random offset (tcp_timestamps = 2)",
    };
}

impl Lp {
    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<LpParameters>) -> Lp {
        let clock = match parameters.rules {
            Rules::Published => None,
            Rules::Linux => Some(Box::default()),
            Rules::Ns3 => Some(Box::new(LpClock::of_ns3())),
        };
        Lp {
            parameters,
            additive: AdditiveIncrease::default(),
            delays: None,
            reduced: None,
            inference_ends: Time::ZERO,
            clock,
        }
    }

    /// Halves the window, or sets it to one segment during the inference phase after the previous indication: the queue
    /// is then due to other flows.
    fn give_way(&mut self, window: &mut Window, ack: &Ack) {
        let share = if ack.now < self.inference_ends { 0 } else { window.cwnd / 2 };
        window.cwnd = share.max(window.mss);
        // Lowering ssthresh keeps the reduced window out of slow start.
        window.ssthresh = window.ssthresh.min(window.cwnd);
        self.additive.restart();
        self.reduced = Some(ack.now);
        self.inference_ends = ack.now + ack.srtt * self.parameters.inference;
    }
}

impl Lp {
    /// Reduces the window if delays say so, and grows it from what is left: as slow start below ssthresh, which only losses lower
    /// (ns-3 tcp-lp.cc, PktsAcked before IncreaseWindow).
    fn grow_as_ns3(&mut self, window: &mut Window, ack: &Ack) {
        let Some(clock) = &mut self.clock else { return };
        clock.reduce(window);
        if window.in_slow_start() {
            window.cwnd += ack.credit.min(window.mss);
        } else if !clock.is_within_inference() {
            self.additive.increase(window, ack.credit);
        }
    }
}

impl CongestionControl for Lp {
    /// Grows as Reno outside the inference phase.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(clock) = &mut self.clock {
            return match self.parameters.rules {
                Rules::Ns3 => self.grow_as_ns3(window, ack),
                Rules::Published | Rules::Linux => clock.increase(window, ack),
            };
        }
        let indicated = self.delays.is_some_and(|delays| delays.indicate_congestion(self.parameters.delta));
        let reduced_lately = self.reduced.is_some_and(|reduced| ack.now < reduced + ack.srtt);
        if indicated && !reduced_lately {
            self.give_way(window, ack);
        } else if ack.now >= self.inference_ends {
            self.additive.increase(window, ack.credit);
        }
    }

    /// Reduces the window to half the flight size (RFC 5681 equation 4).
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        if let Some(clock) = &mut self.clock {
            match self.parameters.rules {
                Rules::Ns3 => clock.reduce(window),
                Rules::Published | Rules::Linux => return clock.on_congestion(window, event),
            }
        }
        if let Some(flight_size) = event.flight_size() {
            self.additive.restart();
            self.reduced = Some(now);
            window.set_ssthresh(flight_size / 2);
        }
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let Some(clock) = &mut self.clock {
            return clock.on_ack(window, ack);
        }
        let Some(delay) = ack.one_way_delay.map(Duration::seconds) else { return };
        match &mut self.delays {
            Some(delays) => delays.take(delay, self.parameters.gamma),
            None => self.delays = Some(Delays::new(delay)),
        }
    }

    /// Only Linux's slow start heeds the inference phase.
    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        let clock = self.clock.as_mut()?;
        if self.parameters.rules == Rules::Ns3 {
            clock.reduce(window);
            return None;
        }
        clock.increase(window, ack);
        Some(0)
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        if let Some(clock) = &mut self.clock {
            clock.on_delivery(window, delivery);
        }
    }

    fn needs(&self) -> Needs {
        Needs { one_way_delay: true, deliveries: self.clock.is_some(), ..Needs::default() }
    }
}
