//! The engine for a browser page: a specification goes in as JSON, columns come out.
//!
//! The page calls functions of plain numbers. A text comes in through [`room`], a place in memory that the page fills before a
//! call. What a call has to say is in memory at [`said`] until the next call: text, or columns ([`columns`]).

mod columns;
mod flights;
mod page;
mod plugins;
mod running;
mod trace;

use std::cell::RefCell;
use std::panic;

use sojourn_engine::catalogue;
use sojourn_engine::simulation;
use sojourn_engine::specification::Specification;

thread_local! {
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static SAID: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// All went well.
const DONE: u32 = 0;
/// There is more to do: call again.
const MORE: u32 = 1;
/// It failed: what was said is one line that says why.
const FAILED: u32 = 2;

/// Returns memory that the page fills.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    ROOM.with_borrow_mut(|room| {
        room.clear();
        room.resize(bytes, 0);
        room.as_mut_ptr()
    })
}

/// What the page has put there.
fn given() -> String {
    ROOM.with_borrow(|room| String::from_utf8_lossy(room).into_owned())
}

/// Where what was said begins.
#[unsafe(no_mangle)]
pub extern "C" fn said() -> *const u8 {
    SAID.with_borrow(|said| said.as_ptr())
}

/// How many bytes it has.
#[unsafe(no_mangle)]
pub extern "C" fn said_bytes() -> usize {
    SAID.with_borrow(Vec::len)
}

fn say(bytes: Vec<u8>) {
    SAID.set(bytes);
}

/// Says an answer, or one line on why there is none.
fn answer<T>(answer: Result<T, String>, bytes: impl FnOnce(T) -> Vec<u8>) -> u32 {
    match answer {
        Ok(answer) => {
            say(bytes(answer));
            DONE
        }
        Err(line) => {
            say(line.into_bytes());
            FAILED
        }
    }
}

fn parse(specification: &str) -> Result<Specification, String> {
    serde_json::from_str(specification).map_err(|error| error.to_string())
}

/// Before anything else: a panic says where it was, and ends.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    panic::set_hook(Box::new(|panic| say(format!("the simulator found a broken invariant: {panic}").into_bytes())));
}

/// Says all that there is to choose from, as JSON, the version and digest of the engine among it.
#[unsafe(no_mangle)]
pub extern "C" fn describe() {
    let mut described = catalogue::catalogue();
    described["digest"] = catalogue::DIGEST.into();
    say(described.to_string().into_bytes());
}

/// Says about how many bytes of memory the run of the given specification takes.
#[unsafe(no_mangle)]
pub extern "C" fn memory_of() -> u32 {
    answer(parse(&given()).and_then(|specification| simulation::memory(&specification)), |bytes| {
        bytes.to_string().into_bytes()
    })
}
