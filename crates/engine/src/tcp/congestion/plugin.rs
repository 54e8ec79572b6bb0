//! A congestion control from outside the engine. It is trusted with nothing: each window that it sets is checked, and a window that
//! makes no sense ends the run with its complaint.

use std::fmt::Debug;

use super::{Ack, CongestionControl, CongestionEvent, Delivery, Hook, LostSegment, Needs, Told};
use crate::failure::Failure;
use crate::inner::{Tell, checked};
use crate::random::Random;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// A congestion control from outside the engine.
#[warn(missing_docs)]
pub trait PluginControl: Debug + Send + Sync {
    /// One with the same parameters that has seen nothing yet: each flow has its own.
    fn fresh(&self) -> Box<dyn PluginControl>;

    /// The flow begins, before all hooks. It draws from the stream, if it asks for one.
    fn begin(&mut self, flow: u32, random: Option<Random>);

    /// What it needs of the sender, besides what its hooks stand for.
    fn needs(&self) -> Needs;

    /// The hooks that it defines, a bit each.
    fn hooks(&self) -> u32;

    /// Calls a hook that it defines, which may change the window, and returns what that returns.
    fn call(&self, hook: Hook, window: &mut Window, told: Told<'_>) -> Option<u64>;

    /// Tells the values of its inner state that it declares and knows.
    fn tell_state(&self, _tell: &mut Tell<'_>) {}

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
    needs: Needs,
    hooks: u32,
    flow: u32,
}

impl Plugin {
    /// A plugin that complains to `failure`.
    pub fn new(control: Box<dyn PluginControl>, failure: Failure) -> Plugin {
        let hooks = control.hooks();
        let asks = |need: &str| Hook::ALL.iter().any(|hook| hook.needs() == Some(need) && hooks & hook.bit() != 0);
        let mut needs = control.needs();
        needs.pacing |= asks("pacing");
        needs.deliveries |= asks("deliveries");
        Plugin { control, failure, needs, hooks, flow: 0 }
    }

    fn complain(&self, hook: Hook, what: &str) {
        self.failure.report(self.control.complaint(hook.name(), what));
    }

    /// Calls a hook that may not change the window, if there is one.
    #[inline]
    fn ask(&self, hook: Hook, window: &Window, told: Told<'_>) -> Option<u64> {
        if self.hooks & hook.bit() == 0 || self.failure.is_set() {
            return None;
        }
        self.control.call(hook, &mut window.clone(), told)
    }

    /// Calls a hook that may change the window, if there is one. What it sets must make sense; else the window stays, and the run
    /// ends.
    #[inline]
    fn tell(&mut self, hook: Hook, window: &mut Window, told: Told<'_>) -> Option<u64> {
        if self.hooks & hook.bit() == 0 || self.failure.is_set() {
            return None;
        }
        let mut changed = *window;
        let answer = self.control.call(hook, &mut changed, told);
        match fault(&changed, window) {
            None => *window = changed,
            Some(what) => self.complain(hook, &what),
        }
        answer
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
    // What ends slow start at a window of one segment is that.
    if ssthresh != before.ssthresh && ssthresh < changed.least_ssthresh().min(cwnd) {
        return Some(format!("set ssthresh to {ssthresh} bytes, less than two segments ({})", 2 * mss));
    }
    (mss != before.mss).then(|| "changed mss, which the connection has agreed on".to_owned())
}

/// A plugin that has not run yet is cloned for each flow.
impl Clone for Plugin {
    fn clone(&self) -> Plugin {
        Plugin { control: self.control.fresh(), failure: self.failure.clone(), ..*self }
    }
}

impl CongestionControl for Plugin {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.tell(Hook::Increase, window, Told::Ack(ack));
    }

    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        self.tell(Hook::OnCongestion, window, Told::Event(event, now));
    }

    fn on_established(&mut self, window: &mut Window, srtt: Duration, now: Time) {
        self.tell(Hook::OnEstablished, window, Told::Times(&[srtt], Some(now)));
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        self.ask(Hook::OnAck, window, Told::Ack(ack));
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        let left = self.tell(Hook::IncreaseInSlowStart, window, Told::Ack(ack))?;
        if left > ack.credit {
            let what = format!("returned {left} bytes of credit; the acknowledgement had {}", ack.credit);
            self.complain(Hook::IncreaseInSlowStart, &what);
        }
        Some(left.min(ack.credit))
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        self.tell(Hook::OnDelivery, window, Told::Delivery(delivery));
    }

    fn on_segment_lost(&mut self, window: &mut Window, lost: &LostSegment) {
        self.tell(Hook::OnSegmentLost, window, Told::Lost(lost));
    }

    fn on_restart(&mut self, window: &mut Window, now: Time) {
        self.tell(Hook::OnRestart, window, Told::Times(&[], Some(now)));
    }

    fn on_idle(&mut self, window: &mut Window, idle: Duration, now: Time) {
        self.tell(Hook::OnIdle, window, Told::Times(&[idle], Some(now)));
    }

    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        let rate = self.ask(Hook::PacingRate, window, Told::Times(&[srtt], None))?;
        if rate == 0 {
            self.complain(Hook::PacingRate, "returned a rate of zero");
            return None;
        }
        Some(Rate(rate))
    }

    fn pacing_quantum(&self, mss: u64) -> u64 {
        let window = Window { cwnd: mss, ssthresh: u64::MAX, mss };
        self.ask(Hook::PacingQuantum, &window, Told::Bytes(mss)).unwrap_or_default()
    }

    /// One that draws begins once it has its stream.
    fn take_flow(&mut self, flow: u32) {
        self.flow = flow;
        if !self.needs.random {
            self.control.begin(flow, None);
        }
    }

    fn take_random(&mut self, random: Random) {
        self.control.begin(self.flow, Some(random));
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        if self.failure.is_set() {
            return;
        }
        let complain = |name: &str, what: &str| self.failure.report(self.control.complaint(name, what));
        self.control.tell_state(&mut checked(complain, tell));
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Sets a window.
    #[derive(Debug)]
    struct Sets(Mutex<Window>);

    impl PluginControl for Arc<Sets> {
        fn fresh(&self) -> Box<dyn PluginControl> {
            Box::new(self.clone())
        }

        fn begin(&mut self, _flow: u32, _random: Option<Random>) {}

        fn needs(&self) -> Needs {
            Needs::default()
        }

        fn hooks(&self) -> u32 {
            Hook::Increase.bit()
        }

        fn call(&self, _hook: Hook, window: &mut Window, _told: Told<'_>) -> Option<u64> {
            *window = *self.0.lock().unwrap();
            None
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
            let sets = Arc::new(Sets(Mutex::new(Window { cwnd: 11_000, ..window })));
            let mut plugin = Plugin::new(Box::new(sets.clone()), failure.clone());
            let mut current = window;
            plugin.increase(&mut current, &Ack::default());
            assert_eq!((current.cwnd, failure.get()), (11_000, None));
            *sets.0.lock().unwrap() = set;
            for _ in 0..2 {
                plugin.increase(&mut current, &Ack::default());
                assert_eq!((current.cwnd, failure.get()), (11_000, Some(complaint)));
            }
        }
    }
}
