//! The timers of a sender: retransmission, recovery and pacing.

use super::{Abort, Sender, State};
use crate::packet::Packet;
use crate::tcp::flight::Arrival;
use crate::tcp::recovery::Expiry;
use crate::tcp::scoreboard::Progress;
use crate::tcp::timer_wheel;
use crate::time::Time;

impl Sender {
    /// When the next timer other than pacing's expires, `NEVER` if none is armed.
    pub fn deadline(&self) -> Time {
        self.retransmission.min(self.recovery.deadline())
    }

    pub fn on_timer(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let tick = self.profile.timer_tick;
        self.retransmission =
            timer_wheel::expiry(self.retransmission, self.rto.timeout(&self.profile.rto_limits()), tick);
        self.recovery.round_deadline(tick);
        if self.deadline() > now {
            return;
        }
        if self.recovery.deadline() <= now && self.state == State::Established {
            self.on_recovery_timer(now, outbox);
        } else {
            self.on_timeout(now, outbox);
        }
    }

    /// When a segment delayed by pacing may be sent, `NEVER` if none is waiting.
    pub fn pacing_deadline(&self) -> Time {
        if self.watches { self.pacer.deadline() } else { Time::NEVER }
    }

    pub fn on_pacing_timer(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        self.pacer.clear();
        self.send(now, outbox);
    }

    fn on_recovery_timer(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        match self.recovery.on_timer(&mut self.flight, &self.rto, now) {
            Expiry::Nothing => {}
            Expiry::Enter => {
                // Counts as a segment delivered: Linux tcp_recovery.c, tcp_rack_reo_timeout.
                let progress = Progress { delivered: 1, ..Progress::default() };
                self.enter_recovery(&Arrival { progress, ..Arrival::default() }, now, outbox);
                self.send(now, outbox);
            }
            Expiry::Send => self.send(now, outbox),
            Expiry::Probe => self.probe(now, outbox),
        }
    }

    /// TLP_send_probe() of RFC 8985 section 7.3: sends new data if available, otherwise retransmits the last segment.
    fn probe(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let again = !self.may_send_new();
        if !again {
            self.send_new(self.payload(self.flight.scoreboard.nxt()), now, outbox);
        } else if let Some(index) = self.flight.scoreboard.last_hole() {
            self.transmit_again(index, now, outbox);
        }
        self.recovery.on_probe_sent(&self.flight, again);
        self.retransmission = now + self.rto.timeout(&self.profile.rto_limits());
    }

    fn on_timeout(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        match self.state {
            State::SynSent => {
                if self.retries >= self.profile.syn_retries {
                    return self.abort(Abort::SynRetries, now);
                }
                self.retries += 1;
                self.rto.back_off();
                self.send_syn(now, outbox);
            }
            State::Established if self.persists => self.probe_window(now, outbox),
            State::Established => {
                self.statistics.timeouts += 1;
                if self.retries >= self.profile.data_retries {
                    return self.abort(Abort::DataRetries, now);
                }
                if self.recovery.reduces_on_timeout(&self.flight, self.retries > 0) {
                    self.reduce_on_timeout(now);
                }
                self.retries += 1;
                self.rto.back_off();
                self.start_over(now, outbox);
            }
            State::Closed | State::Completed | State::Aborted(_) | State::Stopped => self.stop_timers(),
        }
    }
}
