//! The binary interface: `sojourn.h` in Rust. `tests/test_own_hooks.py` compiles a file against the header and checks that both agree.

use std::ffi::{c_char, c_void};
use std::mem::{MaybeUninit, size_of};
use std::ptr;

use sojourn_engine::tcp::congestion::Hook;

/// What stands for "there is none" in a time.
pub const NONE: u64 = u64::MAX;

/// The version of the interface.
pub const VERSION: u32 = 1;

pub const NEEDS_ONE_WAY_DELAY: u64 = 1;
pub const NEEDS_ECT0: u64 = 2;
pub const NEEDS_ECT1: u64 = 4;
pub const NEEDS_LOAD_FACTOR: u64 = 8;
pub const GOVERNS: u64 = 16;
pub const NEEDS_DELIVERIES: u64 = 32;
pub const NEEDS_PACING: u64 = 64;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Parameter {
    pub name: *const c_char,
    pub meaning: *const c_char,
    pub initial: f64,
    pub least: f64,
    pub most: f64,
    pub kind: u32,
    pub bytes: u32,
    pub offset: u64,
}

/// A member of the state that is shown: see `struct sojourn_value`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ShownMember {
    pub name: *const c_char,
    pub unit: *const c_char,
    pub meaning: *const c_char,
    pub phases: *const *const c_char,
    pub kind: u32,
    pub bytes: u32,
    pub offset: u64,
}

#[repr(C)]
#[derive(Debug)]
pub struct RandomNumbers {
    pub bits: Option<unsafe extern "C" fn(*mut RandomNumbers) -> u64>,
}

#[repr(C)]
#[derive(Debug)]
pub struct Recorder {
    pub record: Option<unsafe extern "C" fn(*mut Recorder, *const c_char, f64)>,
    pub which: *const c_char,
    pub flow: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Window {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub mss: u64,
}

#[repr(C)]
#[derive(Default)]
pub struct Ack {
    pub now: u64,
    pub acked: u64,
    pub credit: u64,
    pub rtt: u64,
    pub srtt: u64,
    pub una: u64,
    pub nxt: u64,
    pub in_flight: u64,
    pub one_way_delay: u64,
    pub arrived: u64,
    pub marked: u64,
    pub load_factor: u64,
    pub sent: u64,
    pub echo: u64,
}

#[repr(C)]
#[derive(Default)]
pub struct Event {
    pub now: u64,
    pub flight_size: u64,
    pub kind: u32,
    pub abe: u32,
}

#[repr(C)]
#[derive(Default)]
pub struct RateSample {
    pub delivered: u64,
    pub interval: u64,
    pub prior_delivered: u64,
    pub in_flight_when_sent: u64,
    pub lost: u64,
    pub rtt: u64,
    pub app_limited: u32,
    pub is_valid: u32,
}

#[repr(C)]
#[derive(Default)]
pub struct Delivery {
    pub now: u64,
    pub delivered: u64,
    pub total_delivered: u64,
    pub lost: u64,
    pub marked: u64,
    pub rtt: u64,
    pub srtt: u64,
    pub prior_in_flight: u64,
    pub in_flight: u64,
    pub rate: RateSample,
    pub in_recovery: u32,
    pub reserved: u32,
    pub acked: u64,
    pub nxt: u64,
    pub sent: u64,
    pub echo: u64,
}

#[repr(C)]
#[derive(Default)]
pub struct LostSegment {
    pub now: u64,
    pub segment: u64,
    pub in_flight_when_sent: u64,
    pub lost: u64,
    pub total_delivered: u64,
    pub app_limited: u32,
    pub reserved: u32,
}

pub type State = *mut c_void;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Control {
    pub version: u32,
    pub bytes: u32,
    pub state_bytes: u64,
    pub title: *const c_char,
    pub source: *const c_char,
    pub draws: *const c_char,
    pub parameters: *const Parameter,
    pub needs: u64,
    pub init: Option<unsafe extern "C" fn(State, *mut RandomNumbers)>,
    /// In the order of [`Hook`], whose later ones are behind `take_recorder`.
    pub hooks: [Option<AnyHook>; EARLIER],
    pub take_recorder: Option<unsafe extern "C" fn(State, *mut Recorder)>,
    pub later_hooks: [Option<AnyHook>; LATER],
    pub shows: *const ShownMember,
}

/// A hook, whose arguments [`Hook`] knows.
pub type AnyHook = unsafe extern "C" fn();

/// How many hooks are before `take_recorder`, and behind it. A hook that is added has its place behind all members.
const EARLIER: usize = 9;
const LATER: usize = 2;
const _: () = assert!(EARLIER + LATER == Hook::ALL.len());

#[repr(C)]
pub struct Packet {
    pub since: u64,
    pub flow: u32,
    pub size: u32,
    pub is_data: u32,
    pub is_ecn_capable: u32,
    pub is_marked: u32,
    pub reserved: u32,
}

#[repr(C)]
pub struct QueueView {
    pub now: u64,
    pub packets: *const u64,
    pub bytes: *const u64,
    pub lines: u64,
    pub random: *mut RandomNumbers,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    pub version: u32,
    pub bytes: u32,
    pub state_bytes: u64,
    pub title: *const c_char,
    pub source: *const c_char,
    pub draws: *const c_char,
    pub parameters: *const Parameter,
    pub lines: u64,
    pub timer_interval: u64,
    pub init: Option<unsafe extern "C" fn(State)>,
    pub set_link_rate: Option<unsafe extern "C" fn(State, u64)>,
    pub classify: Option<unsafe extern "C" fn(State, *const Packet, *const QueueView) -> u64>,
    pub admit: Option<unsafe extern "C" fn(State, *const Packet, u64, *const QueueView) -> u32>,
    pub next_line: Option<unsafe extern "C" fn(State, *const QueueView) -> u64>,
    pub release: Option<unsafe extern "C" fn(State, *const Packet, u64, *const QueueView) -> u32>,
    pub on_timer: Option<unsafe extern "C" fn(State, *const QueueView)>,
    pub take_recorder: Option<unsafe extern "C" fn(State, *mut Recorder)>,
    pub shows: *const ShownMember,
    pub overflow: Option<unsafe extern "C" fn(State, *const Packet, *const QueueView)>,
}

/// Copies what a library defines. What an earlier version of the interface lacks is zero.
///
/// # Safety
/// `address` is that of a structure which begins with its version and its size.
unsafe fn read<T: Copy>(address: usize) -> Result<T, String> {
    let [version, bytes] = unsafe { *(address as *const [u32; 2]) };
    if version > VERSION {
        return Err(format!("wants version {version} of sojourn.h; this Sojourn has version {VERSION}"));
    }
    let known = size_of::<T>().min(bytes as usize);
    let mut table = MaybeUninit::<T>::zeroed();
    unsafe {
        ptr::copy_nonoverlapping(address as *const u8, table.as_mut_ptr().cast::<u8>(), known);
        Ok(table.assume_init())
    }
}

impl Control {
    /// See [`read`].
    ///
    /// # Errors
    /// It is of a later version.
    pub unsafe fn read(address: usize) -> Result<Control, String> {
        unsafe { read(address) }
    }

    /// Whether it has the hooks that it must have.
    pub fn check(&self) -> Result<(), String> {
        let governs = self.needs & GOVERNS != 0;
        if self.hook(Hook::OnCongestion).is_none() {
            return Err("defines no on_congestion".to_owned());
        }
        if governs && self.hook(Hook::OnDelivery).is_none() {
            return Err("governs cwnd, but defines no on_delivery".to_owned());
        }
        if !governs && self.hook(Hook::Increase).is_none() {
            return Err("defines no increase".to_owned());
        }
        Ok(())
    }

    /// A hook, if it is defined.
    pub fn hook(&self, hook: Hook) -> Option<AnyHook> {
        let place = hook as usize;
        if place < EARLIER { self.hooks[place] } else { self.later_hooks[place - EARLIER] }
    }
}

impl Queue {
    /// See [`read`].
    ///
    /// # Errors
    /// It is of a later version.
    pub unsafe fn read(address: usize) -> Result<Queue, String> {
        unsafe { read(address) }
    }

    /// Whether it has the hooks that it must have.
    pub fn check(&self) -> Result<(), String> {
        if self.admit.is_none() && self.release.is_none() && self.next_line.is_none() {
            return Err("defines no admit, release or next_line".to_owned());
        }
        Ok(())
    }
}
