//! Congestion controls that are written in the page, over the same hooks as those in Python.

use std::cell::RefCell;

use serde_json::Value;
use sojourn_engine::failure::Failure;
use sojourn_engine::packet::LoadFactor;
use sojourn_engine::plugin::Plugins;
use sojourn_engine::queue::PluginQueue;
use sojourn_engine::random::Random;
use sojourn_engine::tcp::congestion::{
    self, CongestionEvent, Hook, Needs, PluginControl, Returns, Shown, Told, rate_of,
};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::Time;

use crate::page::{self, Answer, NUMBERS, Numbers};

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
            hooks: Hook::set(declared["hooks"].as_array().into_iter().flatten().filter_map(Value::as_str)),
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

/// A time that is none is not a number.
fn number(shown: Shown) -> f64 {
    match shown {
        Shown::Time(time) => time.map_or(f64::NAN, |time| Time(time).seconds()),
        Shown::Number(number) => number as f64,
        Shown::Flag(flag) => f64::from(u8::from(flag)),
        Shown::Load(None) => f64::NAN,
        Shown::Load(Some(LoadFactor::Low)) => 0.0,
        Shown::Load(Some(LoadFactor::High)) => 1.0,
        Shown::Load(Some(LoadFactor::Overload)) => 2.0,
    }
}

/// What hooks are shown, as numbers.
trait Numbered {
    fn numbers(&self) -> impl Iterator<Item = f64>;
}

macro_rules! numbered {
    ($($structure:ident { $($field:ident)* })*) => {
        $(impl Numbered for congestion::$structure {
            fn numbers(&self) -> impl Iterator<Item = f64> {
                [$(number(self.$field.into())),*].into_iter()
            }
        })*
    };
}

sojourn_engine::shown!(numbered);

fn put(numbers: &mut [f64], told: impl IntoIterator<Item = f64>) {
    numbers.iter_mut().zip(told).for_each(|(to, told)| *to = told);
}

/// Writes what a hook is told. Of a delivery, the rate sample follows, with its rate in bits per second, if there is one.
fn write(told: Told<'_>, numbers: &mut [f64]) {
    match told {
        Told::Ack(ack) => put(numbers, ack.numbers()),
        Told::Event(event, now) => {
            let (kind, abe) = match event {
                CongestionEvent::Loss { .. } => (0.0, false),
                CongestionEvent::Ecn { abe, .. } => (1.0, abe),
                CongestionEvent::Timeout => (2.0, false),
                CongestionEvent::Spurious => (3.0, false),
            };
            let flight_size = event.flight_size().map_or(f64::NAN, |bytes| bytes as f64);
            put(numbers, [now.seconds(), kind, flight_size, f64::from(u8::from(abe))]);
        }
        Told::Delivery(delivery) => {
            let rate = delivery.rate.unwrap_or_default();
            let has_rate = f64::from(u8::from(delivery.rate.is_some()));
            let bits = rate.rate().map_or(f64::NAN, |bytes| 8.0 * bytes);
            put(numbers, delivery.numbers().chain([has_rate, bits]).chain(rate.numbers()));
        }
        Told::Lost(lost) => put(numbers, lost.numbers()),
        Told::Times(times, now) => put(numbers, times.iter().map(|time| time.seconds()).chain(now.map(Time::seconds))),
        Told::Bytes(bytes) => numbers[0] = bytes as f64,
    }
}

impl PluginControl for PageControl {
    fn fresh(&self) -> Box<dyn PluginControl> {
        Box::new(PageControl {
            file: self.file.clone(),
            parameters: self.parameters.clone(),
            failure: self.failure.clone(),
            instance: None,
            ..*self
        })
    }

    fn begin(&mut self, _flow: u32, random: Option<Random>) {
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

    fn needs(&self) -> Needs {
        self.needs
    }

    fn hooks(&self) -> u32 {
        self.hooks
    }

    fn call(&self, hook: Hook, window: &mut Window, told: Told<'_>) -> Option<u64> {
        let instance = self.instance?;
        let mut numbers: Numbers = [f64::NAN; NUMBERS];
        numbers[0] = window.cwnd as f64;
        numbers[1] = window.ssthresh as f64;
        numbers[2] = window.mss as f64;
        numbers[3] = f64::from(u8::from(hook.changes_window()));
        write(told, &mut numbers[4..]);
        let answer = page::called(instance, hook as u32, &mut numbers);
        if answer == Answer::Failed {
            self.failure.report(crate::given());
            return None;
        }
        window.cwnd = numbers[0] as u64;
        // A threshold that no number of the page is exactly stays as it is.
        if numbers[1] != window.ssthresh as f64 {
            window.ssthresh = numbers[1] as u64;
        }
        let answer = (answer == Answer::Number).then_some(numbers[4])?;
        match hook.returns() {
            Returns::Rate => {
                rate_of(answer).map_err(|what| self.failure.report(self.complaint(hook.name(), &what))).ok()
            }
            _ => Some(answer as u64),
        }
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        format!("{}: {hook} {what}", self.file)
    }
}
