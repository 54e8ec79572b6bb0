//! Congestion controls that are written in the page, over the same hooks as those in Python.

use std::cell::RefCell;

use serde_json::Value;
use sojourn_engine::failure::Failure;
use sojourn_engine::packet::LoadFactor;
use sojourn_engine::plugin::Plugins;
use sojourn_engine::queue::PluginQueue;
use sojourn_engine::random::Random;
use sojourn_engine::tcp::congestion::{
    Ack, CongestionControl, CongestionEvent, Delivery, LostSegment, Needs, PluginControl,
};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use crate::page::{self, Answer, NUMBERS, Numbers};

/// The hooks, by the numbers that the page knows them by.
#[derive(Clone, Copy, Debug)]
enum Hook {
    Increase,
    OnCongestion,
    OnAck,
    IncreaseInSlowStart,
    OnDelivery,
    OnSegmentLost,
    OnRestart,
    OnIdle,
    PacingRate,
    PacingQuantum,
}

thread_local! {
    /// The random streams of instances, by their numbers.
    static STREAMS: RefCell<Vec<Option<Random>>> = const { RefCell::new(Vec::new()) };
}

/// Draws from the stream of an instance: below `count`, or from 0 to 1 if that is zero.
#[unsafe(no_mangle)]
pub extern "C" fn draw(instance: u32, count: f64) -> f64 {
    STREAMS.with_borrow_mut(|streams| match streams.get_mut(instance as usize) {
        Some(Some(random)) if count >= 1.0 => random.index(count as u64) as f64,
        Some(Some(random)) => random.unit(),
        _ => f64::NAN,
    })
}

/// The plugins of a run.
#[derive(Default)]
pub struct OfPage {
    failure: Failure,
}

impl OfPage {
    /// Those of a new run.
    pub fn new() -> OfPage {
        STREAMS.with_borrow_mut(Vec::clear);
        OfPage::default()
    }
}

impl Plugins for OfPage {
    fn control(&self, plugin: usize, parameters: &Value) -> Result<Box<dyn PluginControl>, String> {
        let declared = page::declared(plugin as u32)?;
        let mut declared: Value = serde_json::from_str(&declared).map_err(|error| error.to_string())?;
        let needs = serde_json::from_value(declared["needs"].take()).map_err(|error| error.to_string())?;
        Ok(Box::new(PageControl {
            plugin: plugin as u32,
            file: declared["file"].as_str().unwrap_or_default().to_owned(),
            hooks: declared["hooks"].as_u64().unwrap_or_default() as u32,
            parameters: parameters.to_string(),
            needs,
            failure: self.failure.clone(),
            instance: None,
        }))
    }

    fn queue(&self, _plugin: usize, _parameters: &Value) -> Result<Box<dyn PluginQueue>, String> {
        Err("the page has no queue disciplines of its own".to_owned())
    }

    fn failure(&self) -> Failure {
        self.failure.clone()
    }
}

/// See the module.
#[derive(Debug)]
struct PageControl {
    plugin: u32,
    file: String,
    /// A bit for each hook that it defines.
    hooks: u32,
    parameters: String,
    needs: Needs,
    failure: Failure,
    /// None before the flow begins.
    instance: Option<u32>,
}

impl PageControl {
    fn begin(&mut self, random: Option<Random>) {
        match page::made(self.plugin, &self.parameters) {
            Err(line) => self.failure.report(line),
            Ok(instance) => {
                self.instance = Some(instance);
                STREAMS.with_borrow_mut(|streams| {
                    streams.resize_with(streams.len().max(instance as usize + 1), || None);
                    streams[instance as usize] = random;
                });
            }
        }
    }

    fn defines(&self, hook: Hook) -> bool {
        self.hooks & (1 << hook as u32) != 0
    }

    /// Calls a hook with a window, which it may change if that is open, and numbers.
    fn call(&self, hook: Hook, window: &mut Window, is_open: bool, told: &[f64]) -> Option<f64> {
        let instance = self.instance.filter(|_| self.defines(hook))?;
        let mut numbers: Numbers = [f64::NAN; NUMBERS];
        numbers[0] = window.cwnd as f64;
        numbers[1] = window.ssthresh as f64;
        numbers[2] = window.mss as f64;
        numbers[3] = f64::from(u8::from(is_open));
        numbers[4..4 + told.len()].copy_from_slice(told);
        let answer = page::called(instance, hook as u32, &mut numbers);
        if answer == Answer::Failed {
            self.failure.report(crate::given());
            return None;
        }
        if is_open {
            window.cwnd = numbers[0] as u64;
            // A threshold that no number of the page is exactly stays as it is.
            if numbers[1] != window.ssthresh as f64 {
                window.ssthresh = numbers[1] as u64;
            }
        }
        (answer == Answer::Number).then_some(numbers[4])
    }
}

fn seconds(time: Option<Duration>) -> f64 {
    time.map_or(f64::NAN, Duration::seconds)
}

fn told_of_ack(ack: &Ack) -> [f64; 12] {
    [
        ack.now.seconds(),
        ack.acked as f64,
        ack.credit as f64,
        seconds(ack.rtt),
        ack.srtt.seconds(),
        ack.una as f64,
        ack.nxt as f64,
        ack.in_flight as f64,
        seconds(ack.one_way_delay),
        ack.arrived.map_or(f64::NAN, Time::seconds),
        ack.marked as f64,
        ack.load_factor.map_or(f64::NAN, |load| match load {
            LoadFactor::Low => 0.0,
            LoadFactor::High => 1.0,
            LoadFactor::Overload => 2.0,
        }),
    ]
}

impl CongestionControl for PageControl {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.call(Hook::Increase, window, true, &told_of_ack(ack));
    }

    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        let (kind, abe) = match event {
            CongestionEvent::Loss { .. } => (0.0, 0.0),
            CongestionEvent::Ecn { abe, .. } => (1.0, f64::from(u8::from(abe))),
            CongestionEvent::Timeout => (2.0, 0.0),
            CongestionEvent::Spurious => (3.0, 0.0),
        };
        let flight_size = event.flight_size().map_or(f64::NAN, |bytes| bytes as f64);
        self.call(Hook::OnCongestion, window, true, &[now.seconds(), kind, flight_size, abe]);
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        self.call(Hook::OnAck, &mut window.clone(), false, &told_of_ack(ack));
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        self.call(Hook::IncreaseInSlowStart, window, true, &told_of_ack(ack)).map(|left| left as u64)
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        let rate = delivery.rate.unwrap_or_default();
        let told = [
            delivery.now.seconds(),
            delivery.delivered as f64,
            delivery.total_delivered as f64,
            delivery.lost as f64,
            delivery.marked as f64,
            seconds(delivery.rtt),
            delivery.srtt.seconds(),
            delivery.prior_in_flight as f64,
            delivery.in_flight as f64,
            f64::from(u8::from(delivery.in_recovery)),
            f64::from(u8::from(delivery.rate.is_some())),
            rate.delivered as f64,
            seconds(rate.interval),
            rate.prior_delivered as f64,
            f64::from(u8::from(rate.app_limited)),
            rate.in_flight_when_sent as f64,
            rate.lost as f64,
            seconds(rate.rtt),
            rate.rate().map_or(f64::NAN, |bytes| 8.0 * bytes),
        ];
        self.call(Hook::OnDelivery, window, true, &told);
    }

    fn on_segment_lost(&mut self, window: &mut Window, lost: &LostSegment) {
        let told = [
            lost.now.seconds(),
            lost.segment as f64,
            lost.in_flight_when_sent as f64,
            lost.lost as f64,
            f64::from(u8::from(lost.app_limited)),
            lost.total_delivered as f64,
        ];
        self.call(Hook::OnSegmentLost, window, true, &told);
    }

    fn on_restart(&mut self, window: &mut Window, now: Time) {
        self.call(Hook::OnRestart, window, true, &[now.seconds()]);
    }

    fn on_idle(&mut self, window: &mut Window, idle: Duration, now: Time) {
        self.call(Hook::OnIdle, window, true, &[idle.seconds(), now.seconds()]);
    }

    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        let rate = self.call(Hook::PacingRate, &mut window.clone(), false, &[srtt.seconds()])?;
        if !(1.0..1e18).contains(&rate) {
            self.failure.report(self.complaint("pacing_rate", &format!("returned {rate} bits per second")));
            return None;
        }
        Some(Rate(rate as u64))
    }

    fn pacing_quantum(&self, mss: u64) -> u64 {
        let mut window = Window { cwnd: mss, ssthresh: u64::MAX, mss };
        self.call(Hook::PacingQuantum, &mut window, false, &[mss as f64]).unwrap_or_default() as u64
    }

    fn take_random(&mut self, random: Random) {
        self.begin(Some(random));
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}

impl PluginControl for PageControl {
    fn fresh(&self) -> Box<dyn PluginControl> {
        let mut fresh = PageControl {
            file: self.file.clone(),
            parameters: self.parameters.clone(),
            failure: self.failure.clone(),
            instance: None,
            ..*self
        };
        // One that draws begins once it has its stream.
        if !fresh.needs.random {
            fresh.begin(None);
        }
        Box::new(fresh)
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        format!("{}: {hook} {what}", self.file)
    }
}
