//! The retransmission timeout of RFC 6298.

use crate::time::Duration;

/// Gains of the smoothed RTT and of its variation (RFC 6298 (2.3)).
const ALPHA: f64 = 1.0 / 8.0;
const BETA: f64 = 1.0 / 4.0;

/// Smoothed round-trip time and its variation (RFC 6298 section 2).
#[derive(Clone, Copy, Debug, Default)]
pub struct RttEstimator {
    /// SRTT and RTTVAR, in seconds. `None` before the first sample.
    estimate: Option<(f64, f64)>,
}

impl RttEstimator {
    /// Takes a sample (RFC 6298 (2.2) and (2.3): RTTVAR before SRTT).
    pub fn sample(&mut self, rtt: Duration) {
        self.sample_with_gains(rtt, ALPHA, BETA);
    }

    pub fn sample_with_gains(&mut self, rtt: Duration, alpha: f64, beta: f64) {
        let sample = rtt.seconds();
        self.estimate = Some(match self.estimate {
            None => (sample, sample / 2.0),
            Some((srtt, rttvar)) => {
                ((1.0 - alpha) * srtt + alpha * sample, (1.0 - beta) * rttvar + beta * (srtt - sample).abs())
            }
        });
    }

    /// SRTT in seconds.
    pub fn srtt(&self) -> Option<f64> {
        self.estimate.map(|(srtt, _)| srtt)
    }

    /// RTTVAR in seconds.
    pub fn rttvar(&self) -> Option<f64> {
        self.estimate.map(|(_, rttvar)| rttvar)
    }
}

/// Bounds of the timeout, from the stack profile.
#[derive(Clone, Copy, Debug)]
pub struct RtoLimits {
    /// The timeout before the first sample.
    pub initial: Duration,
    /// The minimum timeout, RFC 6298 (2.4).
    pub minimum: Duration,
    /// The maximum timeout, RFC 6298 (2.5).
    pub maximum: Duration,
    /// The clock granularity G of RFC 6298 (2.2).
    pub granularity: Duration,
}

state! {
    /// The retransmission timeout with back-off.
    #[derive(Clone, Copy)]
    pub Rto(limits: &RtoLimits) {
        estimator: RttEstimator,
        /// SRTT, zero before the first sample.
        srtt: Duration,
        base: Duration = limits.initial,
        /// Doublings since the last RTT sample.
        backoff: u32,
        /// G of RFC 6298 (2.2), in seconds.
        granularity: f64 = limits.granularity.seconds(),
    }
}

impl Rto {
    /// Takes a sample, recomputes the timeout and ends the back-off: RTO = SRTT + max(G, 4 RTTVAR).
    pub fn sample(&mut self, rtt: Duration, limits: &RtoLimits) {
        self.estimator.sample(rtt);
        if let Some((srtt, rttvar)) = self.estimator.estimate {
            self.srtt = Duration::from_seconds_f64(srtt);
            let rto = Duration::from_seconds_f64(srtt + (4.0 * rttvar).max(self.granularity));
            self.base = rto.clamp(limits.minimum, limits.maximum);
        }
        self.backoff = 0;
    }

    /// Doubles the timeout: RFC 6298 (5.5).
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// Ends the back-off when data starts after a lost SYN, with at least this timeout (RFC 6298 (5.7)).
    pub fn restart(&mut self, least: Duration) {
        self.base = self.base.max(least);
        self.backoff = 0;
    }

    pub fn timeout(&self, limits: &RtoLimits) -> Duration {
        if self.backoff == 0 {
            return self.base;
        }
        // Beyond 2^40, any base exceeds any maximum.
        Duration(self.base.0.saturating_mul(1 << self.backoff.min(40))).min(limits.maximum.max(self.base))
    }

    pub fn estimator(&self) -> &RttEstimator {
        &self.estimator
    }

    pub fn backoff(&self) -> u32 {
        self.backoff
    }

    pub fn srtt(&self) -> Duration {
        self.srtt
    }
}
