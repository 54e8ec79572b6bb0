//! A congestion control of a library, for one flow.

use std::ptr;

use sojourn_engine::failure::Failure;
use sojourn_engine::packet::LoadFactor;
use sojourn_engine::random::Random;
use sojourn_engine::tcp::congestion::{
    Ack, CongestionControl, CongestionEvent, Delivery, LostSegment, Needs, PluginControl, Timestamps,
};
use sojourn_engine::tcp::ecn::Codepoint;
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use crate::count_call;
use crate::declared::State;
use crate::interface::{self, Control, NONE};
use crate::queue::Numbers;
use crate::recorded::{Recorded, Recorder};
use crate::recorder::Handle;

/// See the module.
#[derive(Debug)]
pub struct NativeControl {
    table: Control,
    file: String,
    /// With the parameters, and nothing else yet.
    initial: State,
    state: State,
    /// Where it stays: the library keeps a pointer to it.
    random: Option<Box<Numbers>>,
    failure: Failure,
    recorded: Recorded,
    /// Of the flow, once it begins, if the library asks for it.
    recorder: Option<Box<Handle>>,
}

// SAFETY: the table is constant, and the state is used by one thread at a time, as the methods that take `&mut self` are. The two
// that take `&self` are called by the thread that owns the run.
unsafe impl Send for NativeControl {}
unsafe impl Sync for NativeControl {}

impl NativeControl {
    pub fn new(table: Control, file: String, state: State, failure: Failure, recorded: Recorded) -> NativeControl {
        let initial = state.clone();
        NativeControl { table, file, initial, state, random: None, failure, recorded, recorder: None }
    }

    /// Has the library set up the state, before all other hooks.
    fn begin(&mut self) {
        if let Some(init) = self.table.init {
            self.at("init", None);
            let random = self.random.as_mut().map_or(ptr::null_mut(), |numbers| numbers.pointer());
            count_call();
            // SAFETY: as of every hook, what is passed is what the interface says, and lives longer than the call.
            unsafe { init(self.state.pointer(), random) };
            count_call();
        }
    }

    /// A hook is about to be called.
    fn at(&self, hook: &'static str, now: Option<Time>) {
        if let Some(recorder) = &self.recorder {
            recorder.at(hook, now);
        }
    }
}

fn told(time: Option<Duration>) -> u64 {
    time.map_or(NONE, |time| time.0)
}

fn given(window: &Window) -> interface::Window {
    interface::Window { cwnd: window.cwnd, ssthresh: window.ssthresh, mss: window.mss }
}

fn taken(window: &interface::Window) -> Window {
    Window { cwnd: window.cwnd, ssthresh: window.ssthresh, mss: window.mss }
}

/// When the acknowledgement was sent, and what it echoes.
fn stamps(timestamps: Option<Timestamps>) -> [u64; 2] {
    timestamps.map_or([NONE; 2], |timestamps| [timestamps.sent.0, timestamps.echo.0])
}

fn ack_of(ack: &Ack) -> interface::Ack {
    let [sent, echo] = stamps(ack.timestamps);
    interface::Ack {
        now: ack.now.0,
        acked: ack.acked,
        credit: ack.credit,
        rtt: told(ack.rtt),
        srtt: ack.srtt.0,
        una: ack.una,
        nxt: ack.nxt,
        in_flight: ack.in_flight,
        one_way_delay: told(ack.one_way_delay),
        arrived: ack.arrived.map_or(NONE, |time| time.0),
        marked: ack.marked,
        load_factor: match ack.load_factor {
            None => 0,
            Some(LoadFactor::Low) => 1,
            Some(LoadFactor::High) => 2,
            Some(LoadFactor::Overload) => 3,
        },
        sent,
        echo,
    }
}

fn delivery_of(delivery: &Delivery) -> interface::Delivery {
    let rate = delivery.rate.unwrap_or_default();
    let [sent, echo] = stamps(delivery.timestamps);
    interface::Delivery {
        now: delivery.now.0,
        delivered: delivery.delivered,
        total_delivered: delivery.total_delivered,
        lost: delivery.lost,
        marked: delivery.marked,
        rtt: told(delivery.rtt),
        srtt: delivery.srtt.0,
        prior_in_flight: delivery.prior_in_flight,
        in_flight: delivery.in_flight,
        rate: interface::RateSample {
            delivered: rate.delivered,
            interval: told(rate.interval),
            prior_delivered: rate.prior_delivered,
            in_flight_when_sent: rate.in_flight_when_sent,
            lost: rate.lost,
            rtt: told(rate.rtt),
            app_limited: u32::from(rate.app_limited),
            is_valid: u32::from(delivery.rate.is_some()),
        },
        in_recovery: u32::from(delivery.in_recovery),
        reserved: 0,
        acked: delivery.acked,
        nxt: delivery.nxt,
        sent,
        echo,
    }
}

fn event_of(event: CongestionEvent, now: Time) -> interface::Event {
    let now = now.0;
    match event {
        CongestionEvent::Loss { flight_size } => interface::Event { now, flight_size, kind: 0, abe: 0 },
        CongestionEvent::Ecn { flight_size, abe } => {
            interface::Event { now, flight_size, kind: 1, abe: u32::from(abe) }
        }
        CongestionEvent::Timeout => interface::Event { now, kind: 2, ..Default::default() },
        CongestionEvent::Spurious => interface::Event { now, kind: 3, ..Default::default() },
    }
}

/// Calls a hook, if there is one, at its time, with the state, the window and what else it is told, and takes over the window.
macro_rules! call {
    ($self:ident, $hook:ident, $now:expr, $window:ident $(, $told:expr)*) => {{
        match $self.table.$hook {
            None => None,
            Some(hook) => {
                $self.at(stringify!($hook), Some($now));
                let mut window = given($window);
                count_call();
                // SAFETY: see `begin`.
                let answer = unsafe { hook($self.state.pointer(), &raw mut window $(, $told)*) };
                count_call();
                *$window = taken(&window);
                Some(answer)
            }
        }
    }};
}

impl CongestionControl for NativeControl {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let told = ack_of(ack);
        call!(self, increase, ack.now, window, &raw const told);
    }

    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        let event = event_of(event, now);
        call!(self, on_congestion, now, window, &raw const event);
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        let (mut unchanged, told) = (*window, ack_of(ack));
        let window = &mut unchanged;
        call!(self, on_ack, ack.now, window, &raw const told);
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        let told = ack_of(ack);
        call!(self, increase_in_slow_start, ack.now, window, &raw const told).filter(|left| *left != NONE)
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        let told = delivery_of(delivery);
        call!(self, on_delivery, delivery.now, window, &raw const told);
    }

    fn on_segment_lost(&mut self, window: &mut Window, lost: &LostSegment) {
        let told = interface::LostSegment {
            now: lost.now.0,
            segment: lost.segment,
            in_flight_when_sent: lost.in_flight_when_sent,
            lost: lost.lost,
            total_delivered: lost.total_delivered,
            app_limited: u32::from(lost.app_limited),
            reserved: 0,
        };
        call!(self, on_segment_lost, lost.now, window, &raw const told);
    }

    fn on_restart(&mut self, window: &mut Window, now: Time) {
        call!(self, on_restart, now, window, now.0);
    }

    fn on_idle(&mut self, window: &mut Window, idle: Duration, now: Time) {
        call!(self, on_idle, now, window, idle.0, now.0);
    }

    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        let hook = self.table.pacing_rate?;
        self.at("pacing_rate", None);
        let window = given(window);
        count_call();
        // SAFETY: see `begin`.
        let rate = unsafe { hook(self.state.pointer(), &raw const window, srtt.0) };
        count_call();
        (rate > 0).then_some(Rate(rate))
    }

    fn pacing_quantum(&self, mss: u64) -> u64 {
        let Some(hook) = self.table.pacing_quantum else { return 0 };
        self.at("pacing_quantum", None);
        count_call();
        // SAFETY: see `begin`.
        let quantum = unsafe { hook(self.state.pointer(), mss) };
        count_call();
        quantum
    }

    fn take_flow(&mut self, flow: u32) {
        if let Some(hook) = self.table.take_recorder {
            let recorder = Recorder::of_flow(self.recorded.clone(), flow);
            let handle = Handle::new(recorder, Some(flow), &self.file, self.failure.clone());
            count_call();
            // SAFETY: see `begin`.
            unsafe { hook(self.state.pointer(), handle.pointer()) };
            count_call();
            self.recorder = Some(handle);
        }
        // One that draws begins once it has its stream.
        if !self.needs().random {
            self.begin();
        }
    }

    fn take_random(&mut self, random: Random) {
        self.random = Some(Box::new(Numbers::new(random)));
        self.begin();
    }

    fn needs(&self) -> Needs {
        let asks = |need: u64| self.table.needs & need != 0;
        let table = &self.table;
        Needs {
            one_way_delay: asks(interface::NEEDS_ONE_WAY_DELAY),
            ecn: match (asks(interface::NEEDS_ECT0), asks(interface::NEEDS_ECT1)) {
                (_, true) => Some(Codepoint::Ect1),
                (true, false) => Some(Codepoint::Ect0),
                (false, false) => None,
            },
            load_factor: asks(interface::NEEDS_LOAD_FACTOR),
            recovery: None,
            pacing: table.pacing_rate.is_some() || asks(interface::NEEDS_PACING),
            deliveries: table.on_delivery.is_some()
                || table.on_segment_lost.is_some()
                || table.on_restart.is_some()
                || asks(interface::NEEDS_DELIVERIES),
            governs: asks(interface::GOVERNS),
            random: !table.draws.is_null(),
            common_random: false,
        }
    }
}

impl PluginControl for NativeControl {
    fn fresh(&self) -> Box<dyn PluginControl> {
        let (file, state) = (self.file.clone(), self.initial.clone());
        Box::new(NativeControl::new(self.table, file, state, self.failure.clone(), self.recorded.clone()))
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        format!("{}: {hook} {what}", self.file)
    }
}
