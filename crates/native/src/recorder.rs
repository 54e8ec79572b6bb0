//! Where a library records values: the interface's handle, and what stands behind it.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char};
use std::ptr;

use sojourn_engine::failure::Failure;
use sojourn_engine::time::Time;

use crate::declared::State;
use crate::interface::{self, NONE};
use crate::recorded::Recorder;
use crate::{enter, text};

/// A recorder as the interface has it. It stays where it is: the library keeps a pointer to it.
#[repr(C)]
#[derive(Debug)]
pub struct Handle {
    head: interface::Recorder,
    /// What `head.which` points to.
    which: CString,
    recorder: RefCell<Recorder>,
    /// The hook that is running.
    hook: Cell<&'static str>,
    file: String,
    failure: Failure,
}

unsafe extern "C" fn record(head: *mut interface::Recorder, name: *const c_char, value: f64) {
    // SAFETY: the head that libraries are given is the first member of a `Handle`, whose layout is C's. It is only ever shared.
    let handle = unsafe { &*head.cast::<Handle>() };
    let recorded = handle.recorder.borrow_mut().record(&text(name).unwrap_or_default(), value);
    if let Err(what) = recorded {
        handle.failure.report(format!("{}: {}: {what}", handle.file, handle.hook.get()));
    }
}

impl Handle {
    /// Gives a library that asks for it the recorder of a flow, or of a queue, which has no `flow`.
    pub fn give(
        take: Option<unsafe extern "C" fn(interface::State, *mut interface::Recorder)>,
        state: &State,
        recorder: Recorder,
        flow: Option<u32>,
        file: &str,
        failure: &Failure,
    ) -> Option<Box<Handle>> {
        let take = take?;
        let which = CString::new(recorder.which()).unwrap_or_default();
        let head =
            interface::Recorder { record: Some(record), which: which.as_ptr(), flow: flow.map_or(NONE, u64::from) };
        let (recorder, hook) = (RefCell::new(recorder), Cell::new("take_recorder"));
        let (file, failure) = (file.to_owned(), failure.clone());
        let handle = Box::new(Handle { head, which, recorder, hook, file, failure });
        // SAFETY: as of every hook, what is passed is what the interface says, and lives longer than the call.
        enter(|| unsafe { take(state.pointer(), ptr::from_ref(&*handle).cast_mut().cast()) });
        Some(handle)
    }

    /// A hook is about to be called; one without a time of its own is at that of the hook before it.
    pub fn at(&self, hook: &'static str, now: Option<Time>) {
        self.hook.set(hook);
        if let Some(now) = now {
            self.recorder.borrow_mut().at(now);
        }
    }
}
