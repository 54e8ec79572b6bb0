//! The growth of a receive window as in Linux 6.1: it begins at half of the default buffer and follows what the application reads
//! in a round trip (tcp_input.c, tcp_rcv_space_adjust), by two segments for each that arrives (tcp_grow_window). The window itself
//! never limits a sender here. What matters is that each segment by which it grows is acknowledged at once.

use crate::time::{Duration, Time};

/// Half of the default receive buffer (ip-sysctl.rst, tcp_rmem and tcp_adv_win_scale).
const FIRST: u64 = 65_536;

/// Segments of the window in which the first round trip's data are expected (include/net/tcp.h, TCP_INIT_CWND).
const FIRST_SEGMENTS: u64 = 10;

/// Segments that a window has beyond twice what was read (tcp_rcv_space_adjust).
const CUSHION: u64 = 16;

/// A receive window that grows.
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    segment: u64,
    most: u64,
    /// Up to where it may grow: window_clamp.
    clamp: u64,
    /// How far it has grown: rcv_ssthresh.
    threshold: u64,
    /// The bytes read in a round trip for which the clamp was last set, and where and when the present one began: rcvq_space.
    space: u64,
    read: u64,
    since: Time,
    /// The receiver's estimate of the round-trip time. Zero before the first segment.
    rtt: Duration,
    /// The least delay of a segment, for that of an acknowledgement on its way back.
    least_delay: Duration,
}

impl ReceiveWindow {
    /// The window of a connection with segments of this size and a buffer of `most` bytes; `rcv_nxt` is the first byte of data.
    pub fn new(segment: u64, most: u64, rcv_nxt: u64) -> ReceiveWindow {
        let first = FIRST.min(most).saturating_sub(segment);
        ReceiveWindow {
            segment,
            most,
            clamp: first,
            threshold: first,
            space: FIRST_SEGMENTS * segment,
            read: rcv_nxt,
            since: Time::ZERO,
            rtt: Duration::ZERO,
            least_delay: Duration(u64::MAX),
        }
    }

    /// A segment of new data has arrived, in order or not. Returns whether the window grows.
    pub fn grows(&mut self, length: u64) -> bool {
        let room = self.clamp.saturating_sub(self.threshold);
        self.threshold += room.min(2 * length.max(self.segment));
        room > 0
    }

    /// The application has read all up to `rcv_nxt`, after a segment that was sent at `stamp`.
    pub fn on_read(&mut self, rcv_nxt: u64, stamp: Time, now: Time) {
        let delay = now.since(stamp);
        self.least_delay = self.least_delay.min(delay);
        let sample = delay + self.least_delay;
        if self.rtt == Duration::ZERO {
            (self.rtt, self.since) = (sample, now);
            return;
        }
        self.rtt = Duration(self.rtt.0 - self.rtt.0 / 8 + sample.0 / 8);
        if now.since(self.since) < self.rtt {
            return;
        }
        let copied = rcv_nxt - self.read;
        if copied > self.space {
            let window = 2 * copied + CUSHION * self.segment;
            let faster = u128::from(window) * u128::from(copied - self.space) / u128::from(self.space);
            let window = u128::from(window) + 2 * faster;
            let window = u64::try_from(window).unwrap_or(u64::MAX).min(self.most);
            self.clamp = self.clamp.max(window / self.segment * self.segment);
            self.space = copied;
        }
        (self.read, self.since) = (rcv_nxt, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// tcp_input.c by hand, with segments of 1000 bytes and an RTT of 40 ms, of which 20 ms are the way there: ten segments, then 20,
    /// then more. A round trip ends with the first segment of the next. The first has 11, one more than expected, for which the window
    /// is large enough. The second has 20, which is 9/11 more, so that the window becomes (2 x 20 + 16)(1 + 2 x 9/11) = 147 segments.
    /// It has 64,536 bytes. The next 41 segments add two each, the one after them the rest, and all 42 are acknowledged at once.
    #[test]
    fn window_after_doubling() {
        let mut window = ReceiveWindow::new(1000, 6_000_000, 0);
        let mut received = 0;
        let mut round = |window: &mut ReceiveWindow, segments: u64, sent: u64| -> u64 {
            (0..segments)
                .filter(|_| {
                    received += 1000;
                    let grows = window.grows(1000);
                    window.on_read(received, at(sent), at(sent + 20));
                    grows
                })
                .count() as u64
        };
        assert_eq!(round(&mut window, 10, 0), 0);
        assert_eq!(round(&mut window, 20, 40), 0);
        assert_eq!(round(&mut window, 1, 80), 0, "the second round trip ends with it");
        assert_eq!(round(&mut window, 60, 81), 42);
        assert_eq!(round(&mut window, 1, 82), 0);
    }
}
