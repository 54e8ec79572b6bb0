//! Proportional rate reduction (RFC 9937 section 6, which replaces RFC 6937).

use crate::tcp::flight::{Arrival, Flight, FlightSize};

state! {
    /// The state of one recovery episode, in bytes (section 6.1).
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub ProportionalRateReduction(recover_fs: u64) {
        /// The data neither acknowledged nor SACKed before the acknowledgement that started it.
        recover_fs: u64 = recover_fs.max(1),
        delivered: u64,
        out: u64,
    }
}

impl ProportionalRateReduction {
    /// Starts an episode for a flight whose threshold has been reduced, with the current acknowledgement; `safe` as in
    /// [`on_ack`](Self::on_ack). Where the window is reduced, not the flight, its size is that of the window: Linux
    /// tcp_input.c, tcp_init_cwnd_reduction.
    pub(super) fn enter(flight: &mut Flight, arrival: &Arrival, safe: bool) -> ProportionalRateReduction {
        let delivered = arrival.progress.delivered;
        let scoreboard = &flight.scoreboard;
        let mss = flight.window.mss;
        let recover_fs = match flight.settings.flight_size {
            FlightSize::Window => flight.window.cwnd,
            _ => (scoreboard.outstanding() - scoreboard.sacked() + delivered) * mss,
        };
        let mut reduction = ProportionalRateReduction::new(recover_fs);
        reduction.set_window(flight, delivered, safe);
        reduction
    }

    /// Updates the window for an acknowledgement during the episode.
    pub(super) fn reduce(&mut self, flight: &mut Flight, arrival: &Arrival) {
        self.set_window(flight, arrival.progress.delivered, Self::is_safe(arrival));
    }

    /// Whether SND.UNA advanced and no further loss was detected: SafeACK of section 6.2.
    pub(super) fn is_safe(arrival: &Arrival) -> bool {
        arrival.acked > 0 && arrival.progress.newly_lost == 0
    }

    fn set_window(&mut self, flight: &mut Flight, delivered: u64, safe: bool) {
        let (inflight, mss) = (flight.pipe(), flight.window.mss);
        if let Some(cwnd) = self.on_ack(delivered * mss, inflight, flight.window.ssthresh, safe, mss) {
            flight.window.cwnd = cwnd;
        }
    }

    /// The congestion window after an acknowledgement that delivered data and does not end the episode (section 6.2).
    /// `None` leaves the window unchanged. `safe` tells that SND.UNA advanced and no further loss was detected.
    pub fn on_ack(&mut self, delivered: u64, inflight: u64, ssthresh: u64, safe: bool, mss: u64) -> Option<u64> {
        if delivered == 0 {
            return None;
        }
        self.delivered += delivered;
        let mut send_count = if inflight > ssthresh {
            // Rounded up to whole segments, the unit of the RFC's examples (section 8) and of transmission.
            let allowed = (u128::from(self.delivered) * u128::from(ssthresh)).div_ceil(u128::from(self.recover_fs));
            (allowed as u64).next_multiple_of(mss).saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(delivered);
            (ssthresh - inflight).min(bound + if safe { mss } else { 0 })
        };
        if self.out == 0 && send_count == 0 {
            send_count = mss; // The fast retransmit itself is always sent.
        }
        Some(inflight + send_count)
    }

    /// Counts the bytes sent (section 6.3).
    pub fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
}
