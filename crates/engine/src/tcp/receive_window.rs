//! The growth of a receive window as in Linux 6.1: it begins at half of the default buffer and follows what the application reads
//! in a round trip (tcp_input.c, tcp_rcv_space_adjust), by two segments for each that arrives (tcp_grow_window). The window itself
//! never limits a sender here. What matters is that each segment by which it grows is acknowledged at once.

use crate::time::{Duration, Time};

/// The default receive buffer (ip-sysctl.rst, tcp_rmem).
const FIRST_BUFFER: u64 = 131_072;

/// Half of a buffer is the window (ip-sysctl.rst, tcp_adv_win_scale).
const BUFFER_OF_WINDOW: u64 = 2;

/// Segments of the window in which the first round trip's data are expected (include/net/tcp.h, TCP_INIT_CWND).
const FIRST_SEGMENTS: u64 = 10;

/// Segments that a window has beyond twice what was read (tcp_rcv_space_adjust).
const CUSHION: u64 = 16;

/// The memory of a segment beside its data: 192 bytes for headers (include/net/tcp.h, MAX_TCP_HEADER), 256 for the buffer's
/// description and 320 for that of its pages (include/linux/skbuff.h, SKB_TRUESIZE).
const OVERHEAD: u64 = 768;

/// The steps in which tcp_rcv_space_adjust looks for the memory of a segment that fills half of it.
const MEMORY_STEP: u64 = 128;

/// The clock of timestamps (include/net/tcp.h, TCP_TS_HZ).
const TICK: Duration = Duration::from_milliseconds(1);

/// Weight of a new RTT, as a divisor (tcp_rcv_rtt_update).
const WEIGHT: u64 = 8;

/// The least variation in an RTO (tcp_rtt_estimator, tcp_rto_min). A receiver has one sample, that of the handshake.
const LEAST_VARIATION: Duration = Duration::from_milliseconds(200);

/// A receive window that grows.
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    segment: u64,
    most: u64,
    /// The receive buffer: sk_rcvbuf.
    buffer: u64,
    /// Up to where it may grow: window_clamp.
    clamp: u64,
    /// How far it has grown: rcv_ssthresh.
    threshold: u64,
    /// The bytes read in a round trip for which the buffer was last set, and where and when the present one began: rcvq_space.
    space: u64,
    read: u64,
    since: Time,
    /// The receiver's estimate of the round-trip time, zero before the first segment, and the tick of its latest sample.
    rtt: Duration,
    tick: u64,
    /// When the SYN arrived, and how long acknowledgements take to the sender.
    opened: Time,
    delay_back: Duration,
    /// When data last arrived in order, and after which pause it is acknowledged quickly: the receiver's RTO.
    latest: Time,
    pause: Duration,
}

impl ReceiveWindow {
    /// The window of a connection with segments of this size and a window of at most `most` bytes, whose SYN arrived at `opened`;
    /// `rcv_nxt` is the first byte of data.
    pub fn new(segment: u64, most: u64, rcv_nxt: u64, opened: Time) -> ReceiveWindow {
        let buffer = FIRST_BUFFER.min(BUFFER_OF_WINDOW * most);
        // One segment is kept free (tcp_init_buffer_space).
        let first = (buffer / BUFFER_OF_WINDOW).saturating_sub(segment);
        ReceiveWindow {
            segment,
            most: BUFFER_OF_WINDOW * most,
            buffer,
            clamp: first,
            threshold: first,
            space: FIRST_SEGMENTS * segment,
            read: rcv_nxt,
            since: Time::ZERO,
            rtt: Duration::ZERO,
            tick: u64::MAX,
            opened,
            delay_back: Duration::ZERO,
            latest: Time::NEVER,
            pause: Duration::ZERO,
        }
    }

    /// Whether there may be room to grow, unless data wait above a gap.
    pub fn may_grow(&self) -> bool {
        self.threshold < self.clamp
    }

    /// A segment of new data has arrived, in order or not, while so many bytes wait above a gap, in so many blocks. Returns whether
    /// the window grows.
    pub fn grows(&mut self, length: u64, waiting: u64, blocks: u64) -> bool {
        let held = length + waiting + (1 + blocks) * OVERHEAD;
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
            let handshake = now.since(self.opened);
            self.pause = handshake + LEAST_VARIATION.max(Duration(2 * handshake.0));
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

    /// Whether data in order follow a pause, after which the sender may have a small window (tcp_event_data_recv).
    pub fn ends_pause(&mut self, now: Time) -> bool {
        let ends = self.latest != Time::NEVER && now.since(self.latest) > self.pause;
        self.latest = now;
        ends
    }

    /// The application has read up to `rcv_nxt`.
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

    /// Linux 6.1.192 at 1 Gbit/s with an RTT of 16 ms, in slow start with an acknowledgement a segment: the buffer, the clamp and
    /// how far the window had grown, in bytes, as tcp_rcv_space_adjust printed them after the first segment of each round trip.
    #[test]
    fn kernel_window() {
        let one_way = Duration::from_microseconds(8000);
        let gap = Duration::from_microseconds(12);
        let opened = Time::ZERO + Duration::from_microseconds(30_370);
        let mut window = ReceiveWindow::new(SEGMENT, 3_145_728, 0, opened);
        let mut received = 0;
        let mut found = Vec::new();
        let mut sent = opened + one_way;
        for segments in [10, 20, 40, 80, 1] {
            for index in 0..segments {
                let stamp = sent + Duration(index * gap.0);
                let now = stamp + one_way + gap;
                received += SEGMENT;
                let _ = window.may_grow() && window.grows(SEGMENT, 0, 0);
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
        let mut window = ReceiveWindow::new(SEGMENT, 3_145_728, 0, Time::ZERO);
        (window.buffer, window.clamp) = (134_280, 67_140);
        assert!(!window.grows(SEGMENT, 3 * SEGMENT, 1), "64,088 of (134,280 - 2216 - 5112) / 2 = 63,476 bytes");
        assert!(window.grows(SEGMENT, SEGMENT, 1), "of (134,280 - 2216 - 2216) / 2 = 64,924 bytes");
    }
}
