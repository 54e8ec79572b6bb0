//! How long a Linux host delays an acknowledgement of data in order: twice as long once it has waited in vain, at most a round trip,
//! and less again when segments follow each other (tcp_input.c, tcp_event_data_recv; tcp_output.c, tcp_send_delayed_ack; tcp_timer.c,
//! tcp_delack_timer_handler).

use crate::time::{Duration, Time};

/// A jiffy with HZ 1000.
const TICK: Duration = Duration::from_milliseconds(1);

/// The longest delay, in ticks (include/net/tcp.h, TCP_DELACK_MAX).
const LONGEST: u64 = 200;

/// The least variation in an RTO (tcp_rtt_estimator, tcp_rto_min). A receiver has one sample, that of the handshake.
const LEAST_VARIATION: Duration = Duration::from_milliseconds(200);

/// The receiver's estimate, in ticks.
#[derive(Clone, Debug, Default)]
pub struct AckDelay {
    /// The least estimate, that of a stream (TCP_ATO_MIN).
    least: u64,
    /// The estimate, icsk_ack.ato, and when data last arrived in order, icsk_ack.lrcvtime; none before the first.
    present: Option<(u64, u64)>,
    /// The round-trip time and the RTO since the handshake.
    rtt: u64,
    rto: u64,
}

fn ticks(duration: Duration) -> u64 {
    duration.0.div_ceil(TICK.0)
}

impl AckDelay {
    /// The delays of a connection; `least` is the delay of a stream.
    pub fn new(least: Duration) -> AckDelay {
        AckDelay { least: ticks(least), ..AckDelay::default() }
    }

    /// The handshake gives the first round-trip time.
    pub fn on_handshake(&mut self, rtt: Duration) {
        self.rtt = ticks(rtt);
        self.rto = ticks(rtt + LEAST_VARIATION.max(Duration(2 * rtt.0)));
    }

    /// Data have arrived in order. Returns whether they follow a pause, after which the sender may have a small window.
    pub fn on_data(&mut self, now: Time) -> bool {
        let tick = now.0 / TICK.0;
        let Some((estimate, latest)) = &mut self.present else {
            self.present = Some((self.least, tick));
            return false;
        };
        let gap = tick - *latest;
        *latest = tick;
        if gap <= self.least / 2 {
            *estimate = *estimate / 2 + self.least / 2;
        } else if gap < *estimate {
            *estimate = (*estimate / 2 + gap).min(self.rto);
        }
        gap > self.rto
    }

    /// A delayed acknowledgement was sent since no more data came.
    pub fn on_expiry(&mut self) {
        if let Some((estimate, _)) = &mut self.present {
            *estimate = (2 * *estimate).min(self.rto);
        }
    }

    pub fn present(&self) -> Duration {
        let estimate = self.present.map_or(self.least, |(estimate, _)| estimate);
        let most = if estimate > self.least { self.rtt.max(self.least) } else { LONGEST };
        TICK * estimate.min(most).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// By hand from tcp_event_data_recv, tcp_delack_timer_handler and tcp_send_delayed_ack, in ticks of 1 ms, with a handshake of
    /// 60.2 ms: the estimate is 40, after an acknowledgement that waited 80, then 40 + 70 = 110 after a gap of 70, 55 + 20 = 75 and
    /// 37 + 20 = 57 after short ones; the delay is at most 61.
    #[test]
    fn estimate_by_hand() {
        let mut delay = AckDelay::new(Duration::from_milliseconds(40));
        delay.on_handshake(Duration::from_microseconds(60_200));
        let mut found = vec![];
        for (now, has_waited) in [(0, false), (1, true), (71, false), (72, false), (73, false), (74, false)] {
            assert!(!delay.on_data(at(now)));
            if has_waited {
                delay.on_expiry();
            }
            found.push((delay.present.expect("data have come").0, delay.present().0 / TICK.0));
        }
        assert_eq!(found, [(40, 40), (80, 61), (110, 61), (75, 61), (57, 57), (48, 48)]);
    }

    /// tcp_event_data_recv: data follow a pause if they come later than the RTO, 60 + 200 ms, after the last.
    #[test]
    fn pauses() {
        let mut delay = AckDelay::new(Duration::from_milliseconds(40));
        delay.on_handshake(Duration::from_milliseconds(60));
        assert!(!delay.on_data(at(0)));
        assert!(!delay.on_data(at(260)));
        assert!(delay.on_data(at(521)));
    }
}
