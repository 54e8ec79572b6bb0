//! CUBIC as in RFC 9438. Windows are in segments, as in its equations. The window itself grows by whole bytes.

use super::{CubicParameters, CubicState};
use crate::inner::Tell;
use crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent};
use crate::tcp::window::Window;
use crate::time::Time;

control! {
    Published(CubicParameters as parameters) {
        /// W_max, undefined before the first congestion event and after a timeout.
        w_max: Option<f64>,
        /// The window when ssthresh was last set. Zero before, so that W_est exceeds it (section 4.10).
        cwnd_prior: f64,
        /// The current congestion avoidance stage.
        epoch: Option<Epoch>,
        /// Before the latest loss, until a later event forbids to restore it.
        before_loss: Option<Box<Saved>>,
    }
}

/// The variables that a spurious loss gives back (section 4.9.2).
#[derive(Clone, Debug)]
struct Saved {
    w_max: Option<f64>,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

state! {
    /// A stage with cwnd_epoch = `cwnd` (section 4.2).
    #[derive(Clone)]
    Epoch(w_max: f64, cwnd: f64, c: f64, now: Time) {
        start: Time = now,
        /// W_max of this stage.
        plateau: f64 = w_max.max(cwnd),
        k: f64 = libm::cbrt((plateau - cwnd) / c),
        w_est: f64 = cwnd,
        /// The fractional part of the growth, in bytes.
        fraction: f64,
        last_ack: Time = now,
        /// Whether the latest acknowledgement was allowed to increase the window.
        growing: bool = true,
    }
}

impl Epoch {
    /// The window increase function, Figure 1.
    fn w_cubic(&self, t: f64, c: f64) -> f64 {
        let from_plateau = t - self.k;
        c * from_plateau * from_plateau * from_plateau + self.plateau
    }
}

impl Published {
    /// Saves what the reduction after a loss changes.
    fn save(&mut self) {
        let saved = Saved { w_max: self.w_max, cwnd_prior: self.cwnd_prior, epoch: self.epoch.clone() };
        match &mut self.before_loss {
            Some(before) => **before = saved,
            None => self.before_loss = Some(Box::new(saved)),
        }
    }

    /// Restores it, unless the window was already larger than before the loss, so that the sender had nothing to set back.
    fn restore(&mut self, window: &Window) {
        let Some(saved) = self.before_loss.take() else { return };
        if window.segments() <= self.cwnd_prior {
            // The window that the loss reduced was in use.
            let epoch = saved.epoch.map(|epoch| Epoch { growing: true, ..epoch });
            (self.w_max, self.cwnd_prior, self.epoch) = (saved.w_max, saved.cwnd_prior, epoch);
        }
    }

    /// Reduces the window to this share of the flight size.
    fn reduce(&mut self, beta: f64, window: &mut Window, flight_size: u64) {
        let cwnd = window.segments();
        let gives_way = self.parameters.fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        self.w_max = Some(if gives_way { cwnd * (1.0 + beta) / 2.0 } else { cwnd });
        self.cwnd_prior = cwnd;
        self.epoch = None;
        window.set_ssthresh((flight_size as f64 * beta) as u64);
    }
}

impl CongestionControl for Published {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let CubicParameters { c, beta, reno_friendly, greatest_target, .. } = *self.parameters;
        let mss = window.mss as f64;
        let epoch = self.epoch.get_or_insert_with(|| {
            let cwnd = window.segments();
            // Sections 4.8 and 4.10: an undefined W_max is set to the first window of this stage.
            Epoch::new(*self.w_max.get_or_insert(cwnd), cwnd, c, ack.now)
        });
        let cwnd = window.segments() + epoch.fraction / mss;
        let windows_acked = ack.credit as f64 / window.cwnd as f64;
        let t = ack.now.since(epoch.start).seconds();

        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
        epoch.w_est += alpha * windows_acked;
        let growth = if reno_friendly && epoch.w_cubic(t, c) < epoch.w_est {
            (epoch.w_est - cwnd).max(0.0)
        } else {
            let target = epoch.w_cubic(t + ack.srtt.seconds(), c).clamp(cwnd, greatest_target * cwnd);
            // An acknowledgement of more than a window does not exceed the target.
            (target - cwnd) * windows_acked.min(1.0)
        };

        let bytes = growth * mss + epoch.fraction;
        window.cwnd += bytes as u64;
        epoch.fraction = bytes - bytes.floor();
        epoch.growing = true;
    }

    /// Sections 4.6 to 4.9.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        match event {
            CongestionEvent::Loss { flight_size } => {
                self.save();
                self.reduce(self.parameters.beta, window, flight_size);
            }
            CongestionEvent::Ecn { flight_size, .. } => {
                self.before_loss = None;
                self.reduce(self.parameters.beta_of(event), window, flight_size);
            }
            // The next stage sets its own W_max.
            CongestionEvent::Timeout => (self.w_max, self.epoch) = (None, None),
            CongestionEvent::Spurious => self.restore(window),
        }
    }

    /// Excludes from t the time in which the window was not fully used (sections 4.2 and 5.8): from an acknowledgement
    /// that was not allowed to increase the window until the next one.
    fn on_ack(&mut self, _window: &Window, ack: &Ack) {
        if let Some(epoch) = &mut self.epoch {
            if !epoch.growing {
                epoch.start += ack.now.since(epoch.last_ack);
            }
            epoch.last_ack = ack.now;
            epoch.growing = false;
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let epoch = self.epoch.as_ref();
        let state = CubicState {
            w_max: self.w_max,
            k: epoch.map(|epoch| epoch.k),
            epoch_start: epoch.map(|epoch| epoch.start.seconds()),
            w_est: epoch.map(|epoch| epoch.w_est),
            min_rtt: None,
        };
        state.tell(tell);
    }
}
