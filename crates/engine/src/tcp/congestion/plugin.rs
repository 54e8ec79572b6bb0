//! A congestion control from outside the engine. It is trusted with nothing: each window that it sets is checked, and a window that
//! makes no sense ends the run with its complaint.

use std::fmt::Debug;

use super::{Ack, CongestionControl, CongestionEvent, Delivery, LostSegment, Needs};
use crate::failure::Failure;
use crate::random::Random;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// A congestion control from outside the engine.
pub trait PluginControl: CongestionControl + Debug + Send + Sync {
    /// One with the same parameters that has seen nothing yet: each flow has its own.
    fn fresh(&self) -> Box<dyn PluginControl>;

    /// One line on what a hook did wrong, with the place in the user's file.
    fn complaint(&self, hook: &str, what: &str) -> String;
}

/// The most a window may be, in bytes: what any sum of windows and sequence numbers has room for.
const LARGEST_WINDOW: u64 = 1 << 50;

/// A congestion control from outside the engine, and the check of what it does.
#[derive(Debug)]
pub struct Plugin {
    control: Box<dyn PluginControl>,
    failure: Failure,
}

impl Plugin {
    /// A plugin that complains to `failure`.
    pub fn new(control: Box<dyn PluginControl>, failure: Failure) -> Plugin {
        Plugin { control, failure }
    }

    /// Calls a hook that may change the window. What it sets must make sense; else the window stays, and the run ends.
    fn guarded<T>(
        &mut self,
        hook: &str,
        window: &mut Window,
        call: impl FnOnce(&mut dyn PluginControl, &mut Window) -> T,
    ) -> Option<T> {
        if self.failure.is_set() {
            return None;
        }
        let mut changed = *window;
        let answer = call(self.control.as_mut(), &mut changed);
        match fault(&changed, window) {
            None => *window = changed,
            Some(what) => self.failure.report(self.control.complaint(hook, &what)),
        }
        Some(answer)
    }
}

/// What is wrong with a window that was changed from another.
fn fault(changed: &Window, before: &Window) -> Option<String> {
    let Window { cwnd, ssthresh, mss } = *changed;
    if cwnd < mss {
        return Some(format!("set cwnd to {cwnd} bytes, less than one segment ({mss})"));
    }
    if cwnd > LARGEST_WINDOW {
        return Some(format!("set cwnd to {cwnd} bytes; at most {LARGEST_WINDOW} are allowed"));
    }
    if ssthresh != before.ssthresh && ssthresh < changed.least_ssthresh() {
        return Some(format!("set ssthresh to {ssthresh} bytes, less than two segments ({})", 2 * mss));
    }
    (mss != before.mss).then(|| "changed mss, which the connection has agreed on".to_owned())
}

/// A plugin that has not run yet is cloned for each flow.
impl Clone for Plugin {
    fn clone(&self) -> Plugin {
        Plugin { control: self.control.fresh(), failure: self.failure.clone() }
    }
}

impl CongestionControl for Plugin {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.guarded("increase", window, |control, window| control.increase(window, ack));
    }

    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        self.guarded("on_congestion", window, |control, window| control.on_congestion(window, event, now));
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if !self.failure.is_set() {
            self.control.on_ack(window, ack);
        }
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        let hook = "increase_in_slow_start";
        let left =
            self.guarded(hook, window, |control, window| control.increase_in_slow_start(window, ack)).flatten()?;
        if left > ack.credit {
            let what = format!("returned {left} bytes of credit; the acknowledgement had {}", ack.credit);
            self.failure.report(self.control.complaint(hook, &what));
        }
        Some(left.min(ack.credit))
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        self.guarded("on_delivery", window, |control, window| control.on_delivery(window, delivery));
    }

    fn on_segment_lost(&mut self, window: &mut Window, lost: &LostSegment) {
        self.guarded("on_segment_lost", window, |control, window| control.on_segment_lost(window, lost));
    }

    fn on_restart(&mut self, window: &mut Window, now: Time) {
        self.guarded("on_restart", window, |control, window| control.on_restart(window, now));
    }

    fn on_idle(&mut self, window: &mut Window, idle: Duration, now: Time) {
        self.guarded("on_idle", window, |control, window| control.on_idle(window, idle, now));
    }

    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        if self.failure.is_set() {
            return None;
        }
        let rate = self.control.pacing_rate(window, srtt)?;
        if rate == Rate(0) {
            self.failure.report(self.control.complaint("pacing_rate", "returned a rate of zero"));
            return None;
        }
        Some(rate)
    }

    fn pacing_quantum(&self, mss: u64) -> u64 {
        if self.failure.is_set() { 0 } else { self.control.pacing_quantum(mss) }
    }

    fn take_random(&mut self, random: Random) {
        self.control.take_random(random);
    }

    fn take_flow(&mut self, flow: u32) {
        self.control.take_flow(flow);
    }

    fn needs(&self) -> Needs {
        self.control.needs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets the windows it was made with, one an acknowledgement.
    #[derive(Clone, Debug)]
    struct Sets(Vec<Window>);

    impl CongestionControl for Sets {
        fn increase(&mut self, window: &mut Window, _ack: &Ack) {
            *window = self.0.remove(0);
        }

        fn on_congestion(&mut self, _window: &mut Window, _event: CongestionEvent, _now: Time) {}
    }

    impl PluginControl for Sets {
        fn fresh(&self) -> Box<dyn PluginControl> {
            Box::new(self.clone())
        }

        fn complaint(&self, hook: &str, what: &str) -> String {
            format!("{hook} {what}")
        }
    }

    /// A plugin that sets a senseless window fails: the window stays, the complaint says what was set, and no hook is called
    /// afterwards.
    #[test]
    fn senseless_windows() {
        let window = Window { cwnd: 10_000, ssthresh: u64::MAX, mss: 1_000 };
        for (set, complaint) in [
            (Window { cwnd: 999, ..window }, "increase set cwnd to 999 bytes, less than one segment (1000)"),
            (
                Window { ssthresh: 1_999, ..window },
                "increase set ssthresh to 1999 bytes, less than two segments (2000)",
            ),
            (Window { mss: 500, ..window }, "increase changed mss, which the connection has agreed on"),
        ] {
            let failure = Failure::default();
            let mut plugin = Plugin::new(Box::new(Sets(vec![Window { cwnd: 11_000, ..window }, set])), failure.clone());
            let mut current = window;
            plugin.increase(&mut current, &Ack::default());
            assert_eq!((current.cwnd, failure.get()), (11_000, None));
            for _ in 0..2 {
                plugin.increase(&mut current, &Ack::default());
                assert_eq!((current.cwnd, failure.get()), (11_000, Some(complaint)));
            }
        }
    }
}
