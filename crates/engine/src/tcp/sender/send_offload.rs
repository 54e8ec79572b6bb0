//! Segmentation offload at a sender: the stack hands its network card several segments as one, which leave back to back. How many, and
//! when it waits for more of them, is Linux's rule.

use super::Sender;
use crate::tcp::flight::Phase;
use crate::tcp::segment_ring::SegmentRing;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// The most bytes of a burst: Linux include/linux/netdevice.h, GSO_LEGACY_MAX_SIZE, less room for headers (net/core/sock.c,
/// sk_setup_caps; include/net/tcp.h, MAX_TCP_HEADER).
const MOST_BYTES: u64 = 65_536 - 192 - 1;

/// A burst is what is sent in 1/1024 s at the pacing rate (include/net/sock.h, sk_pacing_shift).
const PACING_SHIFT: u32 = 10;

/// With RTTs of less than 16 ms it may be longer, by half as much for each 512 us of the least RTT (ip-sysctl.rst, tcp_tso_rtt_log).
const RTT_LOG: u32 = 9;
const MOST_RTT_STEPS: u64 = 31;

/// The least segments of a burst (ip-sysctl.rst, tcp_min_tso_segs).
const LEAST_SEGMENTS: u64 = 2;

/// A share of the window that is sent at once (ip-sysctl.rst, tcp_tso_win_divisor).
const WINDOW_DIVISOR: u64 = 3;

/// How recent the last segment, and how close the next acknowledgement, have to be for the rest to wait (tcp_output.c,
/// tcp_tso_should_defer).
const CLOSE: Duration = Duration::from_milliseconds(1);

/// The segments of a burst: Linux tcp_output.c, tcp_tso_autosize.
fn burst_size(rate: Option<Rate>, least_rtt: Duration, mss: u64) -> u64 {
    let steps = (least_rtt.0 / Duration::from_microseconds(1).0) >> RTT_LOG;
    let extra = if steps <= MOST_RTT_STEPS { MOST_BYTES >> steps } else { 0 };
    let bytes = rate.map_or(MOST_BYTES, |rate| ((rate.0 / 8) >> PACING_SHIFT) + extra).min(MOST_BYTES);
    (bytes / mss).max(LEAST_SEGMENTS)
}

/// The bursts of a sender.
#[derive(Debug)]
pub(super) struct SendOffload {
    /// Segments of the present burst that have not been sent.
    left: u64,
    /// When each outstanding segment was last sent, and the latest of all.
    sent: SegmentRing<Time>,
    latest: Time,
    least_rtt: Duration,
}

impl SendOffload {
    pub(super) fn new() -> SendOffload {
        SendOffload { left: 0, sent: SegmentRing::new(), latest: Time::ZERO, least_rtt: Duration(u64::MAX) }
    }

    /// Records a transmission. `una` is the first unacknowledged segment.
    pub(super) fn on_sent(&mut self, index: u64, una: u64, now: Time) {
        self.sent.hold(una, index);
        self.sent[index] = now;
        self.left = self.left.saturating_sub(1);
        self.latest = now;
    }

    /// Whether the next acknowledgement is so close that it is worth while to wait for what it allows. `next` is when a paced segment
    /// may leave.
    fn expects_ack(&self, una: u64, srtt: Duration, next: Time, now: Time) -> bool {
        let close = CLOSE.min(Duration(srtt.0 / 2));
        now <= self.latest.max(next) + CLOSE && self.sent[una] + srtt <= now + close
    }
}

impl Sender {
    /// Whether nothing is sent although the window has `room` bytes, since more can soon be sent together. Otherwise a burst
    /// begins or goes on. Linux tcp_output.c, tcp_tso_should_defer.
    #[inline(never)]
    pub(super) fn defers(&mut self, room: u64, now: Time) -> bool {
        let rate = self.pacer.rate_for_bursts(self.governor.algorithm(), &self.flight.window, self.rto.srtt());
        let may_defer = self.flight.phase == Phase::Open && self.flight.scoreboard.outstanding() > 0;
        let (una, srtt) = (self.flight.scoreboard.una(), self.rto.srtt());
        let next = self.next_sequence();
        let until_edge = self.edge.min(self.flight.una + self.room).saturating_sub(next);
        let window = self.flight.window;
        let latest_rtt = self.latest_rtt;
        let stream_left = self.end.saturating_sub(next);
        let Some(offload) = &mut self.send_offload else { return false };
        if offload.left > 0 {
            return false;
        }
        offload.least_rtt = offload.least_rtt.min(latest_rtt.unwrap_or(Duration(u64::MAX)));
        let size = burst_size(rate, offload.least_rtt, window.mss);
        let limit = room.min(until_edge);
        let is_enough = limit >= size * window.mss || limit >= window.cwnd / WINDOW_DIVISOR || limit >= stream_left;
        if may_defer && !is_enough && offload.expects_ack(una, srtt, self.pacer.next(), now) {
            if until_edge < room {
                self.on_limited(now);
            }
            return true;
        }
        offload.left = (limit / window.mss).clamp(1, size);
        self.pacer.send_together(offload.left * window.mss);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux tcp_output.c, tcp_tso_autosize, by hand with segments of 1448 bytes: a 1024th of a second at the pacing rate, at least
    /// two segments, at most 65,343 bytes, and with a short RTT a part of these more.
    #[test]
    fn sizes_of_bursts() {
        let megabits = |rate: u64| Some(Rate(rate * 1_000_000));
        let expected = [
            (megabits(1), 20_000, 2),
            (megabits(10), 20_000, 2),
            (megabits(100), 20_000, 12_207 / 1448),
            (megabits(300), 20_000, 36_621 / 1448),
            (megabits(1000), 20_000, 65_343 / 1448),
            (None, 20_000, 45),
            (megabits(10), 15_871, 2),
            (megabits(100), 1100, (12_207 + (65_343 >> 2)) / 1448),
            (megabits(10), 600, (1220 + 32_671) / 1448),
            (megabits(10), 100, 45),
        ];
        for (rate, microseconds, segments) in expected {
            let found = burst_size(rate, Duration::from_microseconds(microseconds), 1448);
            assert_eq!(found, segments, "{rate:?} and {microseconds} us");
        }
    }
}
