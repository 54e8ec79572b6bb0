//! The stream of an application that writes over time: what is available grows with each write, and the connection stays open when
//! all of it is acknowledged, until the application closes it.
//!
//! Data leave at once, as far as the window allows (no Nagle algorithm: RFC 9293 section 3.7.4 lets applications disable it), so that
//! a segment may be short in the middle of the stream. **In sequence space each segment nevertheless takes up a full one**, as the
//! scoreboard counts them; the rest is padding that no packet carries. Linux counts segments and charges buffers for them in the same
//! way. Data that have not left are merged with later writes into full segments.

use std::collections::VecDeque;

use super::Sender;
use super::State;
use crate::packet::Packet;
use crate::tcp::scoreboard::FIRST_DATA;
use crate::tcp::window::Window;
use crate::time::Time;

/// What an application has written, and how much of the window it used.
#[derive(Debug)]
pub(super) struct Stream {
    mss: u64,
    /// Segments that hold what was written.
    segments: u64,
    /// Bytes in the last of them.
    tail: u64,
    /// Bytes written.
    written: u64,
    /// Short segments that were sent, in order: index, and bytes of padding. Those acknowledged are forgotten with later ones.
    short: VecDeque<(u64, u64)>,
    /// The padding of those forgotten.
    padding: u64,
    sent_at: Time,
    usage: Usage,
    /// Whether a FIN without data waits for the receive window, in which it takes up a number.
    fin_waits: bool,
}

/// How much of the window was used in the latest round trip: Linux tcp_output.c, tcp_cwnd_validate. The decay of a window that is
/// not used for a timeout (tcp_cwnd_application_limited) is never due there while acknowledgements arrive, each of which renews
/// `snd_cwnd_stamp` (tcp_cong_avoid), nor afterwards, when the pause has reduced the window (tcp_cwnd_restart).
#[derive(Debug, Default)]
struct Usage {
    /// Whether the window limited the sender.
    is_limited: bool,
    /// The most segments that were in flight, if not.
    most: u64,
    /// The segment whose acknowledgement ends the round trip.
    until: u64,
}

impl Usage {
    fn note(&mut self, is_limited: bool, in_flight: u64, (una, nxt): (u64, u64)) {
        if una >= self.until || is_limited || !self.is_limited && in_flight > self.most {
            *self = Usage { is_limited, most: in_flight, until: nxt };
        }
    }
}

impl Stream {
    fn new(mss: u64) -> Stream {
        Stream {
            mss,
            segments: 0,
            tail: mss,
            written: 0,
            short: VecDeque::new(),
            padding: 0,
            sent_at: Time::ZERO,
            usage: Usage::default(),
            fin_waits: false,
        }
    }

    /// Adds data, into the last segment if that has not left. `nxt` is the next segment to be sent.
    fn write(&mut self, bytes: u64, nxt: u64) {
        self.written += bytes;
        let has_room = nxt < self.segments;
        let room = if has_room { self.mss - self.tail } else { 0 };
        if bytes <= room {
            self.tail += bytes;
            return;
        }
        let rest = bytes - room;
        self.segments += rest.div_ceil(self.mss);
        self.tail = rest - (rest.div_ceil(self.mss) - 1) * self.mss;
    }

    /// The sequence number after the last byte available, and that after the last segment.
    fn ends(&self) -> (u64, u64) {
        let last = FIRST_DATA + self.segments * self.mss;
        (last - (self.mss - self.tail), last)
    }

    /// A segment leaves. `una` is the first that is not acknowledged.
    pub fn on_sent(&mut self, index: u64, payload: u64, una: u64, now: Time) {
        self.sent_at = now;
        while self.short.front().is_some_and(|(index, _)| *index < una) {
            self.padding += self.short.pop_front().map_or(0, |(_, padding)| padding);
        }
        if payload < self.mss && self.short.back().is_none_or(|(last, _)| *last < index) {
            self.short.push_back((index, self.mss - payload));
        }
    }

    /// Whether the window was full in this round trip, or at least half of it was used in slow start.
    pub fn used_enough(&self, window: &Window) -> bool {
        self.usage.is_limited || window.in_slow_start() && window.cwnd < 2 * self.usage.most * window.mss
    }

    /// The payload of a segment that was sent.
    fn payload(&self, index: u64) -> u64 {
        let place = self.short.binary_search_by_key(&index, |(index, _)| *index);
        self.mss - place.map_or(0, |place| self.short[place].1)
    }

    /// The place of a byte with the padding before it.
    fn padded(&self, bytes: u64) -> u64 {
        let data = self.short.iter().filter(|(_, padding)| *padding < self.mss);
        data.fold(
            bytes + self.padding,
            |place, (index, padding)| {
                if place < (index + 1) * self.mss - padding { place } else { place + padding }
            },
        )
    }

    /// Bytes of payload of the segments below an index, which is not below any acknowledged one.
    fn bytes_below(&self, index: u64) -> u64 {
        let above: u64 = self.short.iter().take_while(|(short, _)| *short < index).map(|(_, padding)| padding).sum();
        (index * self.mss - self.padding - above).min(self.written)
    }
}

impl Sender {
    /// The sender, but of an application that writes over time: nothing is available yet.
    #[must_use]
    pub fn with_stream(mut self) -> Sender {
        self.stream = Some(Box::new(Stream::new(self.flight.window.mss)));
        self.watches = true;
        // What fills that buffer is an application that always has data.
        self.send_buffer = None;
        (self.end, self.fin) = (FIRST_DATA, u64::MAX);
        self
    }

    /// Whether an application writes its data over time.
    pub fn has_stream(&self) -> bool {
        self.stream.is_some()
    }

    pub fn written(&self) -> u64 {
        self.stream.as_ref().map_or(0, |stream| stream.written)
    }

    /// Bytes that the application has written and that have not left, and how many more the congestion window has room for.
    pub fn waiting(&self) -> (u64, u64) {
        let nxt = FIRST_DATA + self.flight.scoreboard.nxt() * self.flight.window.mss;
        (self.end.saturating_sub(nxt), self.flight.window.cwnd.saturating_sub(self.flight.pipe()))
    }

    /// Bytes of payload below a sequence number that the receiver has, which counts padding.
    pub fn payload_below(&self, sequence: u64) -> u64 {
        let Some(stream) = &self.stream else { return sequence - FIRST_DATA };
        stream.bytes_below((sequence - FIRST_DATA) / stream.mss)
    }

    /// The sequence number, with padding, after `bytes` of payload; one more than were written is the FIN.
    pub fn sequence_of(&self, bytes: u64) -> u64 {
        let Some(stream) = &self.stream else { return FIRST_DATA + bytes };
        if bytes > stream.written { self.fin.saturating_add(1) } else { FIRST_DATA + stream.padded(bytes) }
    }

    /// The application of a stream writes bytes, one at least. What the window allows leaves at once. Returns the sequence number
    /// that the receiver expects next when it has all of them.
    pub fn write(&mut self, bytes: u64, now: Time, outbox: &mut Vec<Packet>) -> u64 {
        debug_assert!(self.fin == u64::MAX, "nothing follows a FIN");
        let Some(stream) = &mut self.stream else { return self.end };
        stream.write(bytes, self.flight.scoreboard.nxt());
        let (end, after) = stream.ends();
        self.end = end;
        if self.state == State::Established {
            self.restart_after_idle(now);
            self.send(now, outbox);
        }
        after
    }

    /// The application of a stream writes no more: its last segment carries a FIN, or an empty one does, whatever the congestion window (Linux
    /// tcp_output.c, tcp_cwnd_test), but not beyond the receive window (tcp_snd_wnd_test). The connection is complete when it is acknowledged; one that is not open is aborted.
    pub fn close(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        if self.fin != u64::MAX || self.stream.is_none() {
            return;
        }
        if self.state != State::Established {
            self.stop(now);
            return;
        }
        let Some(stream) = &mut self.stream else { return };
        let nxt = self.flight.scoreboard.nxt();
        let has_left = nxt >= stream.segments;
        if has_left {
            stream.segments += 1;
            stream.tail = 0;
        }
        self.fin = stream.ends().1;
        stream.fin_waits = has_left;
        self.send_fin(now, outbox);
        self.await_window_for_fin(now);
    }

    /// An empty FIN leaves, if one waits and the receive window has room for it.
    #[cold]
    #[inline(never)]
    pub(super) fn send_fin(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let next = self.next_sequence();
        let Some(stream) = self.stream.as_mut().filter(|stream| stream.fin_waits && next < self.edge) else { return };
        stream.fin_waits = false;
        self.end = self.fin;
        self.end_persisting();
        self.send_new(0, now, outbox);
        self.arm_probe(now);
    }

    /// A FIN waits for the receive window, which is probed when nothing is outstanding.
    pub(super) fn await_window_for_fin(&mut self, now: Time) {
        let waits = self.stream.as_ref().is_some_and(|stream| stream.fin_waits);
        if waits && self.flight.scoreboard.outstanding() == 0 {
            self.persist(now);
        }
    }

    /// The payload of a segment that is sent again.
    pub(super) fn payload_again(&self, index: u64) -> u64 {
        match &self.stream {
            None => self.payload(index),
            Some(stream) => stream.payload(index),
        }
    }

    /// Reduces the window after a pause longer than the retransmission timeout, to the initial window at least: RFC 5681 section
    /// 4.1, or as Linux does, by half for each timeout that has passed, with three quarters of it as the least threshold
    /// (tcp_output.c, tcp_cwnd_restart, and tcp.h, tcp_slow_start_after_idle_check). Not with algorithms that set the window
    /// themselves.
    fn restart_after_idle(&mut self, now: Time) {
        let Some(stream) = &self.stream else { return };
        if self.flight.scoreboard.outstanding() > 0 || stream.sent_at == Time::ZERO {
            return;
        }
        let (idle, timeout) = (now.since(stream.sent_at), self.rto.timeout(&self.profile.rto_limits()));
        self.governor.on_idle(&mut self.flight.window, idle, now);
        if idle <= timeout || self.flight.settings.is_governed {
            return;
        }
        let window = &mut self.flight.window;
        let restart = window.cwnd.min(self.profile.initial_window * window.mss);
        if self.flight.settings.counts_segments {
            window.keep_threshold();
            let halvings = ((idle.0 - 1) / timeout.0.max(1)).min(63);
            let halved = ((window.cwnd / window.mss) >> halvings) * window.mss;
            window.cwnd = halved.max(restart);
        } else {
            window.cwnd = restart;
        }
    }

    /// Notes how much of the window is used: when a new segment leaves, if that fills it, and when there is nothing more to send.
    pub(super) fn note_usage(&mut self, leaves: u64, now: Time) {
        let (una, nxt) = (self.flight.scoreboard.una(), self.flight.scoreboard.nxt() + leaves);
        let is_limited = self.flight.pipe() + (leaves + 1) * self.flight.window.mss > self.flight.window.cwnd;
        let Some(stream) = &mut self.stream else { return };
        if stream.sent_at == now && (is_limited || leaves == 0) {
            stream.usage.note(is_limited, nxt - una, (una, nxt));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u64 = 1000;

    /// Data that have not left are merged into full segments; what has left short stays short, and a later write begins a segment.
    #[test]
    fn short_segments() {
        let mut stream = Stream::new(MSS);
        stream.write(300, 0);
        stream.write(300, 0);
        assert_eq!((stream.segments, stream.tail), (1, 600));
        stream.on_sent(0, 600, 0, Time::ZERO);
        stream.write(2500, 1);
        assert_eq!((stream.segments, stream.tail), (4, 500));
        assert_eq!(stream.ends(), (FIRST_DATA + 3500, FIRST_DATA + 4000));
        for (index, payload) in [(1, 1000), (2, 1000), (3, 500)] {
            stream.on_sent(index, payload, 0, Time::ZERO);
        }
        assert_eq!([0, 1, 2, 3].map(|index| stream.payload(index)), [600, 1000, 1000, 500]);
        assert_eq!([0, 1, 2, 3, 4].map(|index| stream.bytes_below(index)), [0, 600, 1600, 2600, 3100]);
    }

    proptest! {
        /// However an application writes, whatever of it has left in between, and however much is acknowledged: the segments hold all
        /// bytes that were written, each once.
        #[test]
        fn bytes_are_conserved(steps in prop::collection::vec((1u64..3500, 0u64..5, 0u64..5), 1..40)) {
            let mut stream = Stream::new(MSS);
            let (mut nxt, mut una, mut written, mut sent) = (0, 0, 0, 0);
            for (bytes, leave, acknowledged) in steps {
                stream.write(bytes, nxt);
                written += bytes;
                for _ in 0..leave.min(stream.segments - nxt) {
                    let payload = (stream.ends().0 - FIRST_DATA - nxt * MSS).min(MSS);
                    stream.on_sent(nxt, payload, una, Time::ZERO);
                    sent += payload;
                    nxt += 1;
                    prop_assert_eq!(stream.payload(nxt - 1), payload);
                    prop_assert_eq!(stream.bytes_below(nxt), sent);
                }
                una = (una + acknowledged).min(nxt);
            }
            prop_assert_eq!(stream.written, written);
            prop_assert!(sent <= written && stream.segments * MSS >= written);
        }
    }
}
