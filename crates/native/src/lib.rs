//! Congestion controls and queue disciplines in shared libraries, written in C or against its binary interface.
//!
//! `sojourn.h` in the Python package is the interface, [`interface`] the same in Rust. Whoever opened a library hands over the
//! address of what it defines; the library must stay open. What is called here is trusted as any code of the process is: a crash
//! ends the process, which is why such runs belong into a process of their own.

mod control;
mod declared;
mod interface;
mod queue;
mod recorded;
mod recorder;
mod shown;

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use sojourn_engine::failure::Failure;
use sojourn_engine::queue::PluginQueue;
use sojourn_engine::tcp::congestion::PluginControl;

use control::NativeControl;
use interface::{Control, Queue};
use queue::NativeQueue;
pub use recorded::{Recorded, Recorder};

/// Counts entries into hooks and returns from them, so that a watchdog can tell a hook that never returns: odd means inside.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// See [`CALLS`].
pub fn calls() -> u64 {
    CALLS.load(Ordering::Relaxed)
}

/// Enters a hook and leaves it. Hooks of other languages count here too.
pub fn enter<T>(hook: impl FnOnce() -> T) -> T {
    // One thread at a time calls hooks where the count is looked at; a plain addition costs less than an atomic one.
    let count = || CALLS.store(CALLS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    count();
    let answer = hook();
    count();
    answer
}

/// Describes the congestion control at an address: title, source, what it draws, its parameters and what it shows.
///
/// # Safety
/// `address` must be that of a `struct sojourn_congestion_control` in a library that stays open.
pub unsafe fn describe_control(address: usize) -> Result<Value, String> {
    let table = unsafe { Control::read(address) }?;
    table.check()?;
    let state = shown::describe(table.shows, table.state_bytes)?;
    declared::describe(table.title, table.source, table.draws, table.parameters, table.state_bytes, state)
}

/// Describes the queue discipline at an address; see [`describe_control`].
///
/// # Safety
/// `address` must be that of a `struct sojourn_queue` in a library that stays open.
pub unsafe fn describe_queue(address: usize) -> Result<Value, String> {
    let table = unsafe { Queue::read(address) }?;
    table.check()?;
    let state = shown::describe(table.shows, table.state_bytes)?;
    declared::describe(table.title, table.source, table.draws, table.parameters, table.state_bytes, state)
}

/// The congestion control at an address, with parameters. `file` is what complaints call it; its flows record into `recorded`.
///
/// # Safety
/// See [`describe_control`].
pub unsafe fn control(
    address: usize,
    file: &str,
    parameters: &Value,
    failure: Failure,
    recorded: Recorded,
) -> Result<Box<dyn PluginControl>, String> {
    let table = unsafe { Control::read(address) }?;
    table.check()?;
    shown::describe(table.shows, table.state_bytes)?;
    let state = declared::state(table.parameters, table.state_bytes, parameters)?;
    Ok(Box::new(NativeControl::new(table, file.to_owned(), state, failure, recorded)))
}

/// The queue discipline at an address, with parameters.
///
/// # Safety
/// See [`describe_queue`].
pub unsafe fn queue(
    address: usize,
    file: &str,
    parameters: &Value,
    failure: Failure,
    recorder: Recorder,
) -> Result<Box<dyn PluginQueue>, String> {
    let table = unsafe { Queue::read(address) }?;
    table.check()?;
    shown::describe(table.shows, table.state_bytes)?;
    let state = declared::state(table.parameters, table.state_bytes, parameters)?;
    Ok(Box::new(NativeQueue::new(table, file.to_owned(), state, failure, recorder)))
}

/// A C string, or none.
fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the interface says that it is a string, which is as constant as the library.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}
