//! What is sent when: the window against what is in flight, and NextSeg() of RFC 6675 section 4, rule by rule.

use super::{Sender, TimedSegment};
use crate::packet::{Packet, flags};
use crate::tcp::congestion::CongestionControl;
use crate::tcp::recovery::{Phase, Reduction};
use crate::tcp::scoreboard::FIRST_DATA;
use crate::time::Time;

impl Sender {
    /// SND.NXT. After the last segment it is one past the FIN, which that segment carries.
    pub(super) fn next_sequence(&self) -> u64 {
        let next = self.scoreboard.sequence(self.scoreboard.nxt());
        self.size.map_or(next, |size| if next >= FIRST_DATA + size { FIRST_DATA + size + 1 } else { next })
    }

    /// What the window is compared with, in bytes.
    fn in_flight(&self) -> u64 {
        let by_pipe = match self.phase {
            Phase::Open => self.profile.sack && self.profile.limited_transmit,
            Phase::Recovery { .. } => self.profile.recovery.uses_sack(),
            Phase::Loss { .. } => true,
        };
        let segments = if by_pipe { self.scoreboard.pipe() } else { self.scoreboard.outstanding() };
        segments * self.window.mss
    }

    fn usable_window(&self) -> u64 {
        match &self.phase {
            Phase::Recovery { reduction: Reduction::Inflation(inflation), .. } => inflation.window(),
            // RFC 3042 section 2: two segments beyond the window. With SACK, pipe makes room for them by itself.
            Phase::Open if self.duplicate_acks > 0 && !self.profile.sack && self.profile.limited_transmit => {
                self.window.cwnd + self.duplicate_acks.min(2) * self.window.mss
            }
            _ => self.window.cwnd,
        }
    }

    /// Sends what the window allows: what NextSeg() of RFC 6675 section 4 names, rule by rule.
    pub(super) fn send(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        self.tell_losses(now);
        let mss = self.window.mss;
        let window = self.usable_window();
        let mut in_flight = self.in_flight();
        self.window_limited = true;
        while in_flight + mss <= window {
            if now < self.next_release && self.quantum_left < mss {
                self.release = self.next_release;
                break;
            }
            let repairing = !matches!(self.phase, Phase::Open);
            if repairing && let Some(index) = self.next_lost() {
                self.retransmit(index, now, outbox);
            } else if self.may_send_new() {
                self.send_new(now, outbox);
            } else if let Some(index) = self.next_gap() {
                self.retransmit(index, now, outbox);
            } else if let Some(index) = self.rescue() {
                self.transmit_again(index, now, outbox);
                self.scoreboard.on_rescued(index);
            } else {
                self.window_limited = false;
                if let Some(delivery) = &mut self.delivery {
                    delivery.on_limited(self.scoreboard.pipe() * mss);
                }
                break;
            }
            in_flight += mss;
        }
    }

    fn next_lost(&mut self) -> Option<u64> {
        let by_acknowledgements_alone =
            matches!(self.phase, Phase::Recovery { reduction: Reduction::Inflation(_), .. });
        if by_acknowledgements_alone { None } else { self.scoreboard.next_lost() }
    }

    /// NextSeg() rule 3.
    fn next_gap(&mut self) -> Option<u64> {
        match self.phase {
            _ if self.rack.is_some() => None,
            Phase::Recovery { .. } if self.profile.recovery.uses_sack() => self.scoreboard.next_hole(),
            _ => None,
        }
    }

    /// NextSeg() rule 4: once an episode, the highest segment, in case the tail of the window was lost.
    fn rescue(&mut self) -> Option<u64> {
        match &mut self.phase {
            _ if self.rack.is_some() => None,
            Phase::Recovery { rescue_from, .. } if self.profile.recovery.uses_sack() && self.una >= *rescue_from => {
                *rescue_from = u64::MAX;
                self.scoreboard.last_hole()
            }
            _ => None,
        }
    }

    /// Whether the stream has more and both buffers have room for it.
    pub(super) fn may_send_new(&self) -> bool {
        let next = self.next_sequence();
        let room = self.profile.send_buffer.0.min(self.profile.receive_buffer.0);
        let has_more = self.size.is_none_or(|size| next < FIRST_DATA + size);
        has_more && next + self.payload(self.scoreboard.nxt()) <= self.una + room
    }

    fn payload(&self, index: u64) -> u64 {
        let offset = index * self.window.mss;
        self.size.map_or(self.window.mss, |size| (size - offset).min(self.window.mss))
    }

    #[inline(always)]
    pub(super) fn send_new(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let index = self.scoreboard.nxt();
        let announcement = if self.take_announcement() { flags::WINDOW_REDUCED } else { 0 };
        self.transmit(index, self.profile.ecn_of_data() | announcement, now, outbox);
        self.scoreboard.on_sent();
        if self.duplicate_acks > 0 && matches!(self.phase, Phase::Open) {
            self.limited_transmitted += 1;
        }
        if self.retransmission == Time::NEVER {
            self.retransmission = now + self.rto.timeout(&self.profile.rto_limits()); // RFC 6298 (5.1)
        }
        if self.rack.is_some() {
            self.arm_probe(now);
        }
        if !self.profile.timestamps && self.timed.is_none() {
            self.timed = Some(TimedSegment { end: self.scoreboard.sequence(index) + self.payload(index), sent: now });
        }
    }

    /// Sends a lost segment again.
    pub(super) fn retransmit(&mut self, index: u64, now: Time, outbox: &mut Vec<Packet>) {
        self.tell_losses(now);
        self.transmit_again(index, now, outbox);
        self.scoreboard.on_retransmitted(index);
    }

    pub(super) fn transmit_again(&mut self, index: u64, now: Time, outbox: &mut Vec<Packet>) {
        self.transmit(index, self.profile.ecn_of_control(), now, outbox);
        self.statistics.retransmissions += 1;
        self.count_for_undo();
        self.timed = None; // Karn: whatever is timed may be acknowledged late because of this loss.
    }

    fn transmit(&mut self, index: u64, ecn: u8, now: Time, outbox: &mut Vec<Packet>) {
        let payload = self.payload(index);
        let ends_stream = self.size.is_some_and(|size| (index * self.window.mss) + payload == size);
        let bits = ecn | self.load_factor | if ends_stream { flags::DATA | flags::FIN } else { flags::DATA };
        let size = payload + self.profile.segment_overhead();
        let stamp = self.timestamp(now);
        outbox.push(self.packet(self.scoreboard.sequence(index), stamp, size, bits));
        self.statistics.segments_sent += 1;
        if self.watches {
            self.watch(index, payload, size, now);
        }
        if let Phase::Recovery { reduction: Reduction::Proportional(reduction), .. } = &mut self.phase {
            reduction.on_sent(payload);
        }
    }

    /// Tells those who follow single segments that one is sent.
    #[inline(never)]
    fn watch(&mut self, index: u64, payload: u64, size: u64, now: Time) {
        if let Some(rack) = &mut self.rack {
            rack.on_sent(index, self.scoreboard.una(), index < self.scoreboard.nxt(), now);
        }
        if let Some(delivery) = &mut self.delivery {
            let in_flight = self.scoreboard.pipe() * self.window.mss;
            if in_flight == 0 && delivery.is_limited() {
                self.algorithm.on_restart(&mut self.window, now);
            }
            delivery.on_sent(index, self.scoreboard.una(), in_flight, now);
        }
        if self.is_paced {
            self.pace(payload, size, now);
        }
    }
}
