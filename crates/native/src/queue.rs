//! A queue discipline of a library, for one link.

use std::ffi::c_void;
use std::ptr;

use sojourn_engine::failure::Failure;
use sojourn_engine::inner::Tell;
use sojourn_engine::queue::{PluginQueue, Seen, Verdict, View};
use sojourn_engine::random::Random;
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use crate::declared::State;
use crate::enter;
use crate::interface::{self, Queue, RandomNumbers};
use crate::recorded::Recorder;
use crate::recorder::Handle;
use crate::shown::ShownMembers;

/// A random stream as the interface has it.
#[repr(C)]
#[derive(Debug)]
pub struct Numbers {
    head: RandomNumbers,
    random: Random,
}

unsafe extern "C" fn bits(head: *mut RandomNumbers) -> u64 {
    // SAFETY: the head that libraries are given is the first member of `Numbers`, whose layout is C's.
    unsafe { (*head.cast::<Numbers>()).random.bits() }
}

impl Numbers {
    pub fn new(random: Random) -> Numbers {
        Numbers { head: RandomNumbers { bits: Some(bits) }, random }
    }

    pub fn pointer(&mut self) -> *mut RandomNumbers {
        ptr::from_mut(self).cast()
    }
}

#[derive(Debug)]
pub struct NativeQueue {
    table: Queue,
    shown: ShownMembers,
    file: String,
    state: State,
    draws: bool,
    failure: Failure,
    /// If the library asks for it.
    recorder: Option<Box<Handle>>,
}

// SAFETY: as of `NativeControl`.
unsafe impl Send for NativeQueue {}
unsafe impl Sync for NativeQueue {}

impl NativeQueue {
    pub fn new(table: Queue, file: String, state: State, failure: Failure, recorder: Recorder) -> NativeQueue {
        let recorder = Handle::give(table.take_recorder, &state, recorder, None, &file, &failure);
        if let Some(init) = table.init {
            if let Some(recorder) = &recorder {
                recorder.at("init", None);
            }
            // SAFETY: as of every hook, what is passed is what the interface says, and lives longer than the call.
            enter(|| unsafe { init(state.pointer()) });
        }
        let shown = ShownMembers::new(table.shows);
        NativeQueue { draws: !table.draws.is_null(), shown, table, file, state, failure, recorder }
    }

    /// A hook is about to be called.
    fn at(&self, hook: &'static str, now: Option<Time>) {
        if let Some(recorder) = &self.recorder {
            recorder.at(hook, now);
        }
    }

    /// Calls a hook with what it may see.
    fn with<T>(
        &self,
        hook: &'static str,
        view: &mut View,
        call: impl FnOnce(*mut c_void, *const interface::QueueView) -> T,
    ) -> T {
        self.at(hook, Some(view.now));
        let mut numbers = self.draws.then(|| Numbers::new(view.random.clone()));
        let told = interface::QueueView {
            now: view.now.0,
            packets: view.packets.as_ptr(),
            bytes: view.bytes.as_ptr(),
            lines: view.packets.len() as u64,
            random: numbers.as_mut().map_or(ptr::null_mut(), Numbers::pointer),
        };
        let answer = enter(|| call(self.state.pointer(), &raw const told));
        if let Some(numbers) = numbers {
            *view.random = numbers.random;
        }
        answer
    }

    fn verdict(&self, hook: &str, verdict: u32) -> Verdict {
        match verdict {
            0 => Verdict::Pass,
            1 => Verdict::Mark,
            2 => Verdict::Drop,
            other => {
                let what = format!("returned {other}; SOJOURN_PASS, SOJOURN_MARK or SOJOURN_DROP are allowed");
                self.failure.report(self.complaint(hook, &what));
                Verdict::Pass
            }
        }
    }
}

fn packet_of(seen: &Seen) -> interface::Packet {
    interface::Packet {
        since: seen.since.0,
        flow: seen.flow,
        size: u32::from(seen.size),
        is_data: u32::from(seen.is_data),
        is_ecn_capable: u32::from(seen.is_ecn_capable),
        is_marked: u32::from(seen.is_marked),
        reserved: 0,
    }
}

impl PluginQueue for NativeQueue {
    fn lines(&self) -> usize {
        usize::try_from(self.table.lines.max(1)).unwrap_or(usize::MAX)
    }

    fn classify(&mut self, packet: &Seen, view: &mut View) -> usize {
        let Some(hook) = self.table.classify else { return 0 };
        let packet = packet_of(packet);
        // SAFETY: see `new`.
        let line = self.with("classify", view, |state, view| unsafe { hook(state, &raw const packet, view) });
        usize::try_from(line).unwrap_or(usize::MAX)
    }

    fn overflow(&mut self, packet: &Seen, view: &mut View) {
        let Some(hook) = self.table.overflow else { return };
        let packet = packet_of(packet);
        // SAFETY: see `new`.
        self.with("overflow", view, |state, view| unsafe { hook(state, &raw const packet, view) });
    }

    fn admit(&mut self, packet: &Seen, line: usize, view: &mut View) -> Verdict {
        let Some(hook) = self.table.admit else { return Verdict::Pass };
        let packet = packet_of(packet);
        // SAFETY: see `new`.
        let verdict =
            self.with("admit", view, |state, view| unsafe { hook(state, &raw const packet, line as u64, view) });
        self.verdict("admit", verdict)
    }

    fn next_line(&mut self, view: &mut View) -> usize {
        let Some(hook) = self.table.next_line else {
            return view.packets.iter().position(|packets| *packets > 0).unwrap_or_default();
        };
        // SAFETY: see `new`.
        let line = self.with("next_line", view, |state, view| unsafe { hook(state, view) });
        usize::try_from(line).unwrap_or(usize::MAX)
    }

    fn release(&mut self, packet: &Seen, line: usize, view: &mut View) -> Verdict {
        let Some(hook) = self.table.release else { return Verdict::Pass };
        let packet = packet_of(packet);
        // SAFETY: see `new`.
        let verdict =
            self.with("release", view, |state, view| unsafe { hook(state, &raw const packet, line as u64, view) });
        self.verdict("release", verdict)
    }

    fn set_link_rate(&mut self, rate: Rate) {
        if let Some(hook) = self.table.set_link_rate {
            self.at("set_link_rate", None);
            // SAFETY: see `new`.
            enter(|| unsafe { hook(self.state.pointer(), rate.0) });
        }
    }

    fn timer_interval(&self) -> Option<Duration> {
        (self.table.on_timer.is_some() && self.table.timer_interval > 0).then_some(Duration(self.table.timer_interval))
    }

    fn on_timer(&mut self, now: Time, packets: &[u64], bytes: &[u64]) {
        let Some(hook) = self.table.on_timer else { return };
        let view = interface::QueueView {
            now: now.0,
            packets: packets.as_ptr(),
            bytes: bytes.as_ptr(),
            lines: packets.len() as u64,
            random: ptr::null_mut(),
        };
        self.at("on_timer", Some(now));
        // SAFETY: see `new`.
        enter(|| unsafe { hook(self.state.pointer(), &raw const view) });
    }

    fn tell_state(&self, tell: &mut Tell<'_>) {
        self.shown.tell(&self.state, tell);
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        format!("{}: {hook} {what}", self.file)
    }
}
