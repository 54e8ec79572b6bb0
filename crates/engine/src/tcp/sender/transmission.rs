//! Transmission: which segments are sent, in the order determined by the recovery, as the window allows.

use super::Sender;
use crate::packet::{Packet, flags};
use crate::tcp::recovery::{Immediate, Next};
use crate::time::Time;

impl Sender {
    /// SND.NXT. After the last segment it is one past the FIN, which that segment carries.
    pub(super) fn next_sequence(&self) -> u64 {
        let next = self.flight.scoreboard.sequence(self.flight.scoreboard.nxt());
        if next >= self.fin { self.fin + 1 } else { next }
    }

    /// Sends what the window allows, and what the application then writes.
    #[inline]
    pub(super) fn send(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        self.send_allowed(now, outbox);
        if self.send_buffer.is_some() {
            self.send_written(now, outbox);
        }
    }

    /// The application writes if there is room, and what the window allows of that is sent.
    #[inline(never)]
    fn send_written(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let Some(buffer) = &mut self.send_buffer else { return };
        let in_flight = self.recovery.in_flight(&self.flight);
        buffer.look_for_room((&self.flight.scoreboard).into(), in_flight, self.recovery.window(&self.flight));
        if buffer.fill((&self.flight.scoreboard).into()) {
            self.send_allowed(now, outbox);
            if let Some(buffer) = &mut self.send_buffer {
                buffer.push_last((&self.flight.scoreboard).into());
            }
        }
        self.note_full_buffer(now);
    }

    // Not inlined, so that there is one copy, into which what it calls is inlined.
    #[inline(never)]
    fn send_allowed(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        self.report_losses(now);
        let mss = self.flight.window.mss;
        let window = self.recovery.window(&self.flight);
        let mut in_flight = self.recovery.in_flight(&self.flight);
        let nxt = self.flight.scoreboard.nxt();
        if !self.window_limited {
            self.on_unlimited(now);
        }
        while in_flight + mss <= window {
            if self.send_offload.is_some() && self.defers(window - in_flight, now) {
                break;
            }
            if self.watches && self.pacer.holds_back(mss, now) {
                break;
            }
            let has_new = self.may_send_new();
            match self.recovery.next_segment(&mut self.flight, has_new) {
                Some(Next::New) => self.send_new(self.payload(self.flight.scoreboard.nxt()), now, outbox),
                Some(Next::Retransmission(index)) => self.retransmit(index, now, outbox),
                Some(Next::Rescue(index)) => {
                    self.transmit_again(index, now, outbox);
                    self.flight.scoreboard.on_rescued(index);
                }
                None => {
                    self.on_limited(now);
                    break;
                }
            }
            in_flight += mss;
        }
        if self.flight.scoreboard.nxt() > nxt {
            self.arm_probe(now);
        }
    }

    /// Arms the tail loss probe after new data was sent or acknowledged.
    #[inline(always)]
    pub(super) fn arm_probe(&mut self, now: Time) {
        self.recovery.arm_probe(&self.flight, &self.rto, self.retransmission, now);
    }

    /// Whether the stream has more data and both buffers have room for it.
    pub(super) fn may_send_new(&self) -> bool {
        let nxt = self.flight.scoreboard.nxt();
        let next = self.flight.scoreboard.sequence(nxt);
        let limit = (self.flight.una + self.room).min(self.edge);
        next < self.end && next + self.payload(nxt) <= limit && self.is_written(nxt)
    }

    fn is_written(&self, index: u64) -> bool {
        self.send_buffer.as_ref().is_none_or(|buffer| buffer.holds(index))
    }

    /// Whether a send buffer that grows is all that limits transmission.
    pub(super) fn awaits_room(&self) -> bool {
        self.has_more() && !self.is_written(self.flight.scoreboard.nxt())
    }

    /// Whether the stream has data that have never been sent.
    pub(super) fn has_more(&self) -> bool {
        self.flight.scoreboard.sequence(self.flight.scoreboard.nxt()) < self.end
    }

    /// The payload of a segment that has not been sent, or of any but in a stream that an application writes over time.
    pub(super) fn payload(&self, index: u64) -> u64 {
        (self.end - self.flight.scoreboard.sequence(index)).min(self.flight.window.mss)
    }

    #[inline(always)]
    pub(super) fn send_new(&mut self, payload: u64, now: Time, outbox: &mut Vec<Packet>) {
        let index = self.flight.scoreboard.nxt();
        let announcement = if self.marks.take_announcement() { flags::WINDOW_REDUCED } else { 0 };
        self.transmit(index, payload, self.ecn_of_data | announcement, now, outbox);
        self.flight.scoreboard.on_sent();
        if self.flight.duplicate_acks > 0 && self.flight.is_open() {
            self.flight.limited_transmitted += 1;
        }
        if self.retransmission == Time::NEVER {
            self.retransmission = now + self.rto.timeout(&self.profile.rto_limits()); // RFC 6298 (5.1)
        }
        if self.rtt_sampler.awaits_segment() {
            // A FIN without data takes up a number (RFC 9293 section 3.4): what acknowledges only the data before it is no answer.
            self.rtt_sampler.time_segment(self.flight.scoreboard.sequence(index) + payload.max(1), now);
        }
    }

    /// Sends a segment regardless of the window.
    #[inline(always)]
    pub(super) fn send_at_once(&mut self, what: Immediate, now: Time, outbox: &mut Vec<Packet>) {
        if what != Immediate::Nothing {
            self.send_immediate(what, now, outbox);
        }
    }

    #[inline(never)]
    fn send_immediate(&mut self, what: Immediate, now: Time, outbox: &mut Vec<Packet>) {
        let has_new = self.may_send_new();
        let next = match what {
            Immediate::Nothing => return,
            Immediate::Segment(index) => Next::Retransmission(index),
            Immediate::Next => self.recovery.next_immediate(&mut self.flight, has_new),
        };
        let pacer = (self.recovery.passes_pacing() && now < self.pacer.next()).then_some(self.pacer);
        match next {
            Next::New => {
                self.send_new(self.payload(self.flight.scoreboard.nxt()), now, outbox);
                self.arm_probe(now);
            }
            Next::Retransmission(index) | Next::Rescue(index) => self.retransmit(index, now, outbox),
        }
        if let Some(pacer) = pacer {
            self.pacer = pacer;
        }
    }

    pub(super) fn retransmit(&mut self, index: u64, now: Time, outbox: &mut Vec<Packet>) {
        self.report_losses(now);
        self.transmit_again(index, now, outbox);
        self.flight.scoreboard.on_retransmitted(index);
        if index == self.flight.scoreboard.una() && self.recovery.restarts_timer_on_first() {
            self.retransmission = now + self.rto.timeout(&self.profile.rto_limits());
        }
        if self.pacer.is_on() && self.flight.scoreboard.next_lost() != Some(index + 1) {
            self.pacer.end_quantum();
        }
    }

    pub(super) fn transmit_again(&mut self, index: u64, now: Time, outbox: &mut Vec<Packet>) {
        self.transmit(index, self.payload_again(index), self.ecn_of_control, now, outbox);
        self.statistics.retransmissions += 1;
        self.rtt_sampler.on_retransmitted();
    }

    fn transmit(&mut self, index: u64, payload: u64, ecn: u8, now: Time, outbox: &mut Vec<Packet>) {
        let ends_stream = self.fin - self.flight.scoreboard.sequence(index) <= self.flight.window.mss;
        let bits = ecn | self.load_factor | if ends_stream { flags::DATA | flags::FIN } else { flags::DATA };
        let size = payload + self.profile.segment_overhead();
        let stamp = self.rtt_sampler.timestamp(now);
        outbox.push(self.packet(self.flight.scoreboard.sequence(index), stamp, size, bits));
        self.statistics.segments_sent += 1;
        self.recovery.on_sent(&self.flight, index, payload, now);
        if self.watches {
            self.watch(index, payload, size, now, outbox);
        }
    }

    /// Passes a transmission to the delivery estimator, the stream and the pacer.
    #[inline(never)]
    fn watch(&mut self, index: u64, payload: u64, size: u64, now: Time, outbox: &mut [Packet]) {
        if let Some(delivery) = &mut self.delivery {
            let in_flight = self.flight.scoreboard.pipe();
            if in_flight == 0 && delivery.is_app_limited() {
                self.governor.on_restart(&mut self.flight.window, now);
            }
            delivery.on_sent(index, self.flight.scoreboard.una(), in_flight, now);
        }
        if let Some(stream) = &mut self.stream {
            stream.on_sent(index, payload, self.flight.scoreboard.una(), now);
            self.note_usage(u64::from(index == self.flight.scoreboard.nxt()), now);
        }
        if let Some(times) = &mut self.segment_times {
            times.on_sent(index, self.flight.scoreboard.una(), self.flight.scoreboard.nxt(), now);
        }
        if let Some(offload) = &mut self.send_offload {
            offload.on_sent(index, self.flight.scoreboard.una(), now);
        }
        if let Some(buffer) = &mut self.send_buffer {
            if buffer.is_pushed(index)
                && let Some(packet) = outbox.last_mut()
            {
                packet.flags |= flags::PUSH;
            }
            if index == self.flight.scoreboard.nxt() && buffer.is_full() {
                let in_flight = self.recovery.in_flight(&self.flight) + self.flight.window.mss;
                buffer.look_for_room((&self.flight.scoreboard).into(), in_flight, self.recovery.window(&self.flight));
            }
        }
        if self.pacer.is_on() {
            self.pacer.on_sent(self.governor.algorithm(), &self.flight.window, self.rto.srtt(), (payload, size), now);
        }
    }
}
