//! A congestion control of a library, for one flow.

use std::{mem, ptr};

use sojourn_engine::failure::Failure;
use sojourn_engine::inner::Tell;
use sojourn_engine::packet::LoadFactor;
use sojourn_engine::random::Random;
use sojourn_engine::tcp::congestion::{
    self, CongestionEvent, Hook, Needs, PluginControl, Returns, Shown, Timestamps, Told,
};
use sojourn_engine::tcp::ecn::Codepoint;
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

use crate::declared::State;
use crate::enter;
use crate::interface::{self, Control, NONE};
use crate::queue::Numbers;
use crate::recorded::{Recorded, Recorder};
use crate::recorder::Handle;
use crate::shown::ShownMembers;

#[derive(Debug)]
pub struct NativeControl {
    table: Control,
    shown: ShownMembers,
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
        let (initial, shown) = (state.clone(), ShownMembers::new(table.shows));
        NativeControl { table, shown, file, initial, state, random: None, failure, recorded, recorder: None }
    }

    /// A hook is about to be called.
    fn at(&self, hook: &'static str, now: Option<Time>) {
        if let Some(recorder) = &self.recorder {
            recorder.at(hook, now);
        }
    }
}

/// As the interface has it. What is none in a time is `NONE`, a load factor that is none 0.
fn number(shown: impl Into<Shown>) -> u64 {
    match shown.into() {
        Shown::Time(time) => time.unwrap_or(NONE),
        Shown::Number(number) => number,
        Shown::Flag(flag) => u64::from(flag),
        Shown::Load(None) => 0,
        Shown::Load(Some(LoadFactor::Low)) => 1,
        Shown::Load(Some(LoadFactor::High)) => 2,
        Shown::Load(Some(LoadFactor::Overload)) => 3,
    }
}

macro_rules! as_in_c {
    ($($structure:ident { $($field:ident)* })*) => {
        $(impl From<&congestion::$structure> for interface::$structure {
            fn from(shown: &congestion::$structure) -> Self {
                interface::$structure { $($field: number(shown.$field) as _,)* ..Default::default() }
            }
        })*
    };
}

sojourn_engine::shown!(as_in_c);

/// When the acknowledgement was sent, and what it echoes.
fn stamps(timestamps: Option<Timestamps>) -> [u64; 2] {
    timestamps.map_or([NONE; 2], |timestamps| [timestamps.sent.0, timestamps.echo.0])
}

fn ack_of(ack: &congestion::Ack) -> interface::Ack {
    let [sent, echo] = stamps(ack.timestamps);
    interface::Ack { sent, echo, ..ack.into() }
}

fn delivery_of(delivery: &congestion::Delivery) -> interface::Delivery {
    let [sent, echo] = stamps(delivery.timestamps);
    let rate: interface::RateSample = (&delivery.rate.unwrap_or_default()).into();
    let rate = interface::RateSample { is_valid: u32::from(delivery.rate.is_some()), ..rate };
    interface::Delivery { rate, sent, echo, ..delivery.into() }
}

fn event_of(event: CongestionEvent, now: Time) -> interface::Event {
    let (kind, abe) = match event {
        CongestionEvent::Loss { .. } => (0, 0),
        CongestionEvent::Ecn { abe, .. } => (1, u32::from(abe)),
        CongestionEvent::Timeout => (2, 0),
        CongestionEvent::Spurious => (3, 0),
    };
    interface::Event { now: now.0, flight_size: event.flight_size().unwrap_or_default(), kind, abe }
}

/// Calls a hook that has arguments of these types besides the state, and that returns nothing or a number.
macro_rules! call {
    ($hook:expr, $returns:expr, $state:expr $(, $told:expr => $type:ty)*) => {{
        type Numbered = unsafe extern "C" fn(interface::State $(, $type)*) -> u64;
        type Silent = unsafe extern "C" fn(interface::State $(, $type)*);
        // SAFETY: this is what the interface says of the hook, and what is passed lives longer than the call.
        unsafe {
            if $returns {
                Some(mem::transmute::<interface::AnyHook, Numbered>($hook)($state $(, $told)*))
            } else {
                mem::transmute::<interface::AnyHook, Silent>($hook)($state $(, $told)*);
                None
            }
        }
    }};
}

impl PluginControl for NativeControl {
    fn fresh(&self) -> Box<dyn PluginControl> {
        let (file, state) = (self.file.clone(), self.initial.clone());
        Box::new(NativeControl::new(self.table, file, state, self.failure.clone(), self.recorded.clone()))
    }

    fn begin(&mut self, flow: u32, random: Option<Random>) {
        let recorder = Recorder::of_flow(self.recorded.clone(), flow);
        let (take, state) = (self.table.take_recorder, &self.state);
        self.recorder = Handle::give(take, state, recorder, Some(flow), &self.file, &self.failure);
        self.random = random.map(|random| Box::new(Numbers::new(random)));
        if let Some(init) = self.table.init {
            self.at("init", None);
            let random = self.random.as_mut().map_or(ptr::null_mut(), |numbers| numbers.pointer());
            // SAFETY: as of every hook, what is passed is what the interface says, and lives longer than the call.
            enter(|| unsafe { init(self.state.pointer(), random) });
        }
    }

    fn hooks(&self) -> u32 {
        Hook::ALL.iter().filter(|hook| self.table.hook(**hook).is_some()).fold(0, |set, hook| set | hook.bit())
    }

    fn call(&self, hook: Hook, window: &mut Window, told: Told<'_>) -> Option<u64> {
        let function = self.table.hook(hook)?;
        self.at(hook.name(), told.now());
        let mut shown = interface::Window { cwnd: window.cwnd, ssthresh: window.ssthresh, mss: window.mss };
        let (state, returns, to) = (self.state.pointer(), hook.returns() != Returns::Nothing, &raw mut shown);
        let answer = enter(|| match told {
            Told::Ack(ack) => {
                let ack = ack_of(ack);
                call!(function, returns, state, to => *mut interface::Window, &raw const ack => *const interface::Ack)
            }
            Told::Event(event, now) => {
                let event = event_of(event, now);
                call!(function, returns, state, to => *mut interface::Window, &raw const event => *const interface::Event)
            }
            Told::Delivery(delivery) => {
                let seen = delivery_of(delivery);
                call!(function, returns, state, to => *mut interface::Window, &raw const seen => *const interface::Delivery)
            }
            Told::Lost(lost) => {
                let lost = lost.into();
                call!(function, returns, state, to => *mut interface::Window, &raw const lost => *const interface::LostSegment)
            }
            Told::Times(&[Duration(time)], None) | Told::Times(&[], Some(Time(time))) => {
                call!(function, returns, state, to => *mut interface::Window, time => u64)
            }
            Told::Times(&[Duration(time)], Some(Time(now))) => {
                call!(function, returns, state, to => *mut interface::Window, time => u64, now => u64)
            }
            Told::Times(..) => unreachable!("the interface has no hook of these times"),
            Told::Bytes(bytes) => call!(function, returns, state, bytes => u64),
        });
        *window = Window { cwnd: shown.cwnd, ssthresh: shown.ssthresh, mss: shown.mss };
        answer.filter(|answer| match hook.returns() {
            Returns::Credit => *answer != NONE,
            Returns::Rate => *answer > 0,
            _ => true,
        })
    }

    fn needs(&self) -> Needs {
        let asks = |need: u64| self.table.needs & need != 0;
        Needs {
            one_way_delay: asks(interface::NEEDS_ONE_WAY_DELAY),
            ecn: match (asks(interface::NEEDS_ECT0), asks(interface::NEEDS_ECT1)) {
                (_, true) => Some(Codepoint::Ect1),
                (true, false) => Some(Codepoint::Ect0),
                (false, false) => None,
            },
            load_factor: asks(interface::NEEDS_LOAD_FACTOR),
            recovery: None,
            pacing: asks(interface::NEEDS_PACING),
            deliveries: asks(interface::NEEDS_DELIVERIES),
            governs: asks(interface::GOVERNS),
            growth_beside_marks: false,
            acks_in_recovery: false,
            samples_as_ns3: false,
            random: !self.table.draws.is_null(),
            common_random: false,
        }
    }

    fn tell_state(&self, tell: &mut Tell<'_>) {
        self.shown.tell(&self.state, tell);
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        format!("{}: {hook} {what}", self.file)
    }
}
