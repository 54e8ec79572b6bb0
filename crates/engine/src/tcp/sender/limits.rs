//! What keeps the sender from sending when the congestion window does not: the end of the stream, a buffer, or the receive window,
//! which is probed when nothing is outstanding (RFC 9293 section 3.8.6.1). The times in
//! which it is the receiver's or the sender's are what Linux counts as `tcpi_rwnd_limited` and `tcpi_sndbuf_limited`
//! (include/uapi/linux/tcp.h; net/ipv4/tcp_output.c, tcp_write_xmit, `TCP_CHRONO_RWND_LIMITED`, and tcp_cwnd_validate,
//! `TCP_CHRONO_SNDBUF_LIMITED`).

use super::{Abort, Sender, SenderStatistics, State};
use crate::packet::Packet;
use crate::tcp::scoreboard::FIRST_DATA;
use crate::time::{Duration, Time};

/// A buffer that limits transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Buffer {
    Receiver,
    Sender,
}

impl Sender {
    /// From now on a buffer is all that limits transmission.
    pub(super) fn limit(&mut self, buffer: Buffer, now: Time) {
        (self.limiting, self.limited_since) = (buffer, now);
    }

    /// No buffer does any more, as far as is known.
    pub(super) fn end_limit(&mut self, now: Time) {
        self.statistics = self.statistics_at(now);
        self.limited_since = Time::NEVER;
    }

    /// Notes whether a buffer that grows is what limits transmission: the application waits for room, and all that it has written has
    /// left though the window has room.
    pub(super) fn note_full_buffer(&mut self, now: Time) {
        let is_full = self.awaits_room()
            && self.recovery.in_flight(&self.flight) + self.flight.window.mss <= self.recovery.window(&self.flight);
        if self.limited_since != Time::NEVER && self.limiting == Buffer::Sender {
            self.end_limit(now);
        }
        if is_full && self.limited_since == Time::NEVER {
            self.limit(Buffer::Sender, now);
        }
    }

    /// The congestion window has room, and there is nothing to send.
    #[cold]
    #[inline(never)]
    pub(super) fn on_limited(&mut self, now: Time) {
        if self.awaits_room() {
            return;
        }
        self.window_limited = false;
        self.note_usage(0, now);
        self.outstanding_when_limited = self.flight.outstanding();
        if !self.has_more() || self.may_send_new() {
            self.note_lack_of_data();
            return self.await_window_for_fin(now);
        }
        let is_beyond_window = self.next_sequence() + self.payload(self.flight.scoreboard.nxt()) > self.edge;
        let is_receivers = is_beyond_window || self.profile.receive_buffer.0 <= self.profile.send_buffer.0;
        if !is_receivers {
            self.note_lack_of_data();
        }
        self.limit(if is_receivers { Buffer::Receiver } else { Buffer::Sender }, now);
        if is_beyond_window && self.flight.scoreboard.outstanding() == 0 {
            self.persist(now);
        }
    }

    /// The application, or the buffer that it writes to, has nothing to send: samples of the rate tell of it. Data that the receive window
    /// holds back are no lack (draft-ietf-ccwg-bbr section 4.1, NoUnsentData; Linux tcp.c, tcp_rate_check_app_limited).
    fn note_lack_of_data(&mut self) {
        if let Some(delivery) = &mut self.delivery {
            delivery.on_app_limited(self.flight.pipe());
        }
    }

    /// Whether the window may grow though it was not what limited the sender: that was full in this round trip, or at least half of
    /// it was used in slow start (RFC 7661 section 4.3; Linux include/net/tcp.h, tcp_is_cwnd_limited).
    #[cold]
    pub(super) fn used_enough(&self) -> bool {
        let window = &self.flight.window;
        match &self.stream {
            Some(stream) => stream.used_enough(window),
            None => self.edge != u64::MAX && window.in_slow_start() && window.cwnd < 2 * self.outstanding_when_limited,
        }
    }

    /// The answer to the SYN carries the first window.
    pub fn open_receive_window(&mut self, window: u64) {
        self.edge = FIRST_DATA + window;
    }

    /// Takes the window of an acknowledgement, which may have other options. Whether that is all it tells: it is no duplicate
    /// (RFC 5681 section 2).
    pub fn on_window(
        &mut self,
        number: u64,
        window: u64,
        has_options: bool,
        now: Time,
        outbox: &mut Vec<Packet>,
    ) -> bool {
        // A window may also shrink (Linux tcp_input.c, tcp_may_update_window).
        let is_newer = number > self.flight.una || number == self.flight.una && window == 0;
        let edge = if is_newer { number + window } else { self.edge.max(number + window) };
        let is_update = edge != self.edge || self.persists;
        self.edge = edge;
        if is_update && self.stream.is_some() {
            self.send_fin(now, outbox);
        }
        if !is_update || has_options || number != self.flight.una || self.state != State::Established {
            return false;
        }
        self.retries = 0;
        self.send(now, outbox);
        true
    }

    /// Awaits a window: the retransmission timer is that of its next probe (RFC 9293 section 3.8.6.1; Linux tcp_input.c,
    /// tcp_ack_probe).
    pub(super) fn persist(&mut self, now: Time) {
        self.persists = true;
        let limits = self.profile.rto_limits();
        let first = self.rto.timeout(&limits).0;
        let interval = 1_u64.checked_shl(self.window_probes as u32).and_then(|factor| first.checked_mul(factor));
        self.retransmission = now + interval.map_or(limits.maximum, Duration).min(limits.maximum);
    }

    /// The window is open: it is no longer probed.
    pub(super) fn end_persisting(&mut self) {
        if self.persists {
            (self.persists, self.window_probes) = (false, 0);
            self.retransmission = Time::NEVER;
        }
    }

    /// Sends a segment without data, which has to be acknowledged (Linux tcp_output.c, tcp_send_probe0, tcp_xmit_probe_skb).
    pub(super) fn probe_window(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        if self.retries >= self.profile.data_retries {
            return self.abort(Abort::DataRetries, now);
        }
        self.retries += 1;
        self.window_probes += 1;
        let stamp = self.rtt_sampler.timestamp(now);
        outbox.push(self.packet(self.flight.una - 1, stamp, self.profile.segment_overhead(), 0));
        self.persist(now);
    }

    /// The sender tries again.
    #[cold]
    #[inline(never)]
    pub(super) fn on_unlimited(&mut self, now: Time) {
        self.window_limited = true;
        if self.persists && self.may_send_new() {
            self.end_persisting();
        }
        self.end_limit(now);
    }

    /// Starts counting anew: the measuring window opens.
    pub fn open_window(&mut self, now: Time) {
        self.statistics = SenderStatistics::default();
        if self.limited_since != Time::NEVER {
            self.limited_since = now;
        }
    }

    pub fn statistics_at(&self, now: Time) -> SenderStatistics {
        let mut statistics = self.statistics;
        if self.limited_since != Time::NEVER {
            let limited = match self.limiting {
                Buffer::Receiver => &mut statistics.receiver_limited,
                Buffer::Sender => &mut statistics.send_buffer_limited,
            };
            *limited = *limited + now.since(self.limited_since);
        }
        statistics
    }
}
