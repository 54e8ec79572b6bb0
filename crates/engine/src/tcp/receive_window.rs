//! The growth of a receive window as in Linux 6.1: it begins at half of the default buffer and follows what the application reads
//! in a round trip (tcp_input.c, tcp_rcv_space_adjust), by two segments for each that arrives (tcp_grow_window). Each segment by which
//! it grows is acknowledged at once.

use super::ack_delay::AckDelay;
use super::scoreboard::FIRST_DATA;
use super::send_buffer::OVERHEAD;
use crate::time::{Duration, Time};

/// The default receive buffer (ip-sysctl.rst, tcp_rmem).
const FIRST_BUFFER: u64 = 131_072;

/// Half of a buffer is the window (ip-sysctl.rst, tcp_adv_win_scale).
const BUFFER_OF_WINDOW: u64 = 2;

/// Segments of the window in which the first round trip's data are expected (include/net/tcp.h, TCP_INIT_CWND).
const FIRST_SEGMENTS: u64 = 10;

/// Segments that a window has beyond twice what was read (tcp_rcv_space_adjust).
const CUSHION: u64 = 16;

/// The steps in which tcp_rcv_space_adjust looks for the memory of a segment that fills half of it.
const MEMORY_STEP: u64 = 128;

/// The clock of timestamps (include/net/tcp.h, TCP_TS_HZ).
const TICK: Duration = Duration::from_milliseconds(1);

/// Weight of a new RTT, as a divisor (tcp_rcv_rtt_update).
const WEIGHT: u64 = 8;

/// The largest window whose bits need no scale (tcp_output.c, tcp_select_initial_window).
const UNSCALED_BITS: u32 = 15;

/// A share of a buffer below which no window is offered (tcp_output.c, __tcp_select_window).
const LEAST_SHARE: u64 = 16;

/// What a receiver holds besides the segment that arrives.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Bytes in order that the application has not read.
    pub unread: u64,
    /// Bytes that wait above a gap.
    pub waiting: u64,
    /// The number of blocks that they are.
    pub blocks: u64,
}

impl Offer {
    /// The memory that it takes, in bytes. Segments in sequence are kept as one.
    fn memory(self) -> u64 {
        self.unread + self.waiting + (u64::from(self.unread > 0) + self.blocks) * OVERHEAD
    }
}

state! {
    /// A receive window that grows: of a connection with segments of this size and a window of at most `most` bytes, whose SYN
    /// was sent at `sent` and arrived at `opened`. Acknowledgements of a stream are delayed by `delay`.
    #[derive(Clone)]
    pub ReceiveWindow(segment: u64, most: u64, sent: Time, opened: Time, delay: Duration) {
        segment: u64 = segment,
        most: u64 = BUFFER_OF_WINDOW * most,
        /// The binary logarithm of the unit of the window in a header.
        scale: u32 = most.ilog2().saturating_sub(UNSCALED_BITS),
        /// The receive buffer: sk_rcvbuf.
        buffer: u64 = FIRST_BUFFER.min(most),
        /// Up to where it may grow: window_clamp.
        clamp: u64 = first_clamp(buffer, segment),
        /// How far it has grown: rcv_ssthresh.
        threshold: u64 = clamp,
        /// The bytes read in a round trip for which the buffer was last set, and where and when the present one began: rcvq_space.
        space: u64 = FIRST_SEGMENTS * segment,
        read: u64 = FIRST_DATA,
        since: Time,
        /// The receiver's estimate of the round-trip time, zero before the first segment, and the tick of its latest sample.
        rtt: Duration,
        tick: u64 = u64::MAX,
        /// When the SYN arrived, how long it took, and how long acknowledgements take to the sender.
        opened: Time = opened,
        delay_forth: Duration = opened.since(sent),
        delay_back: Duration,
        /// How long acknowledgements are delayed.
        pub ack_delay: AckDelay = AckDelay::new(delay),
    }
}

/// One segment is kept free, unless the buffer is small (tcp_init_buffer_space).
fn first_clamp(buffer: u64, segment: u64) -> u64 {
    let space = buffer / BUFFER_OF_WINDOW;
    if space > 2 * segment { (space - segment).max(2 * segment) } else { space }
}

impl ReceiveWindow {
    /// The window in the answer to the SYN, in whole segments (tcp_output.c, tcp_select_initial_window).
    pub fn first(&self) -> u64 {
        let space = self.buffer / BUFFER_OF_WINDOW;
        space - space % self.segment
    }

    /// A window as a header can hold it, rounded up.
    pub fn aligned(&self, window: u64) -> u64 {
        let below = (1 << self.scale) - 1;
        (window + below) & !below
    }

    /// The window that is offered (tcp_output.c, __tcp_select_window).
    pub fn offer(&self, held: Offer) -> u64 {
        let free = self.buffer.saturating_sub(held.memory()) / BUFFER_OF_WINDOW;
        if free >= self.clamp.min(self.buffer / BUFFER_OF_WINDOW) / 2 {
            return self.aligned(free.min(self.threshold));
        }
        let free = free & (u64::MAX << self.scale);
        if free < self.least() { 0 } else { self.aligned(free.min(self.threshold)) }
    }

    /// The least free space that is offered.
    fn least(&self) -> u64 {
        (self.buffer / BUFFER_OF_WINDOW / LEAST_SHARE).max(self.segment).next_multiple_of(1 << self.scale)
    }

    /// How much may be unread when a window twice as large as the present one can be offered; none if it is more than half of the
    /// most, or can never be.
    pub fn unread_for_twice(&self, present: u64, held: Offer) -> Option<u64> {
        if 2 * present > self.clamp {
            return None;
        }
        let wanted = self.aligned((2 * present).max(self.least()));
        let taken = Offer { unread: 0, ..held }.memory() + OVERHEAD;
        (2 * present <= self.threshold).then(|| self.buffer.saturating_sub(BUFFER_OF_WINDOW * wanted + taken))
    }

    /// Whether there is room to grow with a segment, unless data wait above a gap.
    pub fn may_grow(&self, length: u64) -> bool {
        self.threshold < self.clamp && BUFFER_OF_WINDOW * (self.threshold + 1) + length + OVERHEAD <= self.buffer
    }

    /// A segment of new data has arrived, in order or not. Returns whether the window grows.
    pub fn grows(&mut self, length: u64, held: Offer) -> bool {
        let held = length + OVERHEAD + held.memory();
        let free = self.buffer.saturating_sub(held) / BUFFER_OF_WINDOW;
        let room = self.clamp.min(free).saturating_sub(self.threshold);
        self.threshold += room.min(2 * length.max(self.segment));
        room > 0
    }

    /// A segment that was sent at `stamp` has arrived: its sender answered an acknowledgement, which echoed a tick of the
    /// receiver's clock (tcp_rcv_rtt_measure_ts, tcp_rcv_rtt_update).
    pub fn on_arrival(&mut self, stamp: Time, now: Time) {
        if self.rtt == Duration::ZERO {
            self.delay_back = stamp.since(self.opened);
            self.since = now;
            // The acknowledgement of the handshake leaves before the data, and takes as long as the SYN.
            self.ack_delay.on_handshake(self.delay_forth + self.delay_back);
        }
        let tick = stamp.0.saturating_sub(self.delay_back.0) / TICK.0;
        if tick == self.tick {
            return;
        }
        self.tick = tick;
        let sample = (now.0 / TICK.0 - tick).max(1) * TICK.0;
        let is_least = self.rtt == Duration::ZERO || sample < self.rtt.0;
        self.rtt = Duration(if is_least { sample } else { self.rtt.0 - self.rtt.0 / WEIGHT + sample / WEIGHT });
    }

    pub fn on_read(&mut self, rcv_nxt: u64, now: Time) {
        if now.since(self.since) < self.rtt {
            return;
        }
        let copied = rcv_nxt - self.read;
        if copied > self.space {
            let window = 2 * copied + CUSHION * self.segment;
            let faster = u128::from(window) * u128::from(copied - self.space) / u128::from(self.space);
            let segments = (u128::from(window) + 2 * faster) / u128::from(self.segment);
            let buffer = segments * u128::from(self.memory_of_segment());
            let buffer = u64::try_from(buffer).unwrap_or(u64::MAX).min(self.most);
            if buffer > self.buffer {
                self.buffer = buffer;
                self.clamp = buffer / BUFFER_OF_WINDOW;
            }
            self.space = copied;
        }
        (self.read, self.since) = (rcv_nxt, now);
    }

    /// The memory that a buffer has for a segment (tcp_rcv_space_adjust, rcvmem).
    fn memory_of_segment(&self) -> u64 {
        let least = self.segment + OVERHEAD;
        least + (BUFFER_OF_WINDOW * self.segment).saturating_sub(least).next_multiple_of(MEMORY_STEP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1448;
    const NOTHING: Offer = Offer { unread: 0, waiting: 0, blocks: 0 };

    fn above(waiting: u64) -> Offer {
        Offer { waiting, blocks: 1, ..NOTHING }
    }

    /// Linux 6.1.192 at 1 Gbit/s with an RTT of 16 ms, in slow start with an acknowledgement a segment: the buffer, the clamp and
    /// how far the window had grown, in bytes, as tcp_rcv_space_adjust printed them after the first segment of each round trip.
    #[test]
    fn kernel_window() {
        let one_way = Duration::from_microseconds(8000);
        let gap = Duration::from_microseconds(12);
        let opened = Time::ZERO + Duration::from_microseconds(30_370);
        let mut window = ReceiveWindow::new(SEGMENT, 3_145_728, opened, opened, Duration::ZERO);
        let mut received = FIRST_DATA;
        let mut found = Vec::new();
        let mut sent = opened + one_way;
        for segments in [10, 20, 40, 80, 1] {
            for index in 0..segments {
                let stamp = sent + Duration(index * gap.0);
                let now = stamp + one_way + gap;
                received += SEGMENT;
                let _ = window.may_grow(SEGMENT) && window.grows(SEGMENT, NOTHING);
                window.on_arrival(stamp, now);
                window.on_read(received, now);
                if index == 0 {
                    found.push((window.buffer, window.clamp, window.threshold));
                }
            }
            sent = sent + one_way + one_way + gap;
        }
        let kernel = [
            (134_280, 67_140, 64_088),
            (438_648, 219_324, 66_032),
            (859_392, 429_696, 181_872),
            (1_575_552, 787_776, 413_552),
        ];
        assert_eq!(found[1..], kernel);
    }

    /// tcp_grow_window: data that wait above a gap take room from the buffer, 768 bytes beside the data of each block.
    #[test]
    fn waiting_data_take_room() {
        let mut window = ReceiveWindow::new(SEGMENT, 3_145_728, Time::ZERO, Time::ZERO, Duration::ZERO);
        (window.buffer, window.clamp) = (134_280, 67_140);
        assert!(!window.grows(SEGMENT, above(3 * SEGMENT)), "64,088 of (134,280 - 2216 - 5112) / 2 = 63,476 bytes");
        assert!(window.grows(SEGMENT, above(SEGMENT)), "of (134,280 - 2216 - 2216) / 2 = 64,924 bytes");
    }
}
