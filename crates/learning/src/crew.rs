//! Threads that stay for as long as there is work for them to wait for, since to start one takes as long as some steps of a run.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::{process, thread};

/// Work in numbered parts, each of which is done once, on any thread.
pub trait Work: Send + Sync + 'static {
    /// Does a part.
    fn part(&self, number: usize) -> Result<(), String>;
}

/// What a thread is handed, and how it ended.
struct Share {
    work: Arc<dyn Work>,
    parts: Arc<Parts>,
    done: Sender<thread::Result<Result<(), String>>>,
}

/// Which parts are left: of each thread its own, which it does first. So a part comes to the same thread each time, whose caches
/// know it, unless another thread has nothing left to do.
struct Parts {
    next: Vec<AtomicUsize>,
    count: usize,
}

impl Parts {
    fn new(threads: usize, count: usize) -> Parts {
        Parts { next: (0..threads).map(|thread| AtomicUsize::new(thread * count / threads)).collect(), count }
    }

    fn end(&self, thread: usize) -> usize {
        (thread + 1) * self.count / self.next.len()
    }

    /// A part for a thread: one of its own, or else of the next thread that has some.
    fn take(&self, thread: usize) -> Option<usize> {
        let threads = self.next.len();
        (0..threads).map(|other| (thread + other) % threads).find_map(|owner| {
            let part = self.next[owner].fetch_add(1, Ordering::Relaxed);
            (part < self.end(owner)).then_some(part)
        })
    }
}

/// The threads besides the caller's.
pub struct Crew {
    others: Vec<Sender<Share>>,
    /// Where they are: a process that was forked has none of them.
    process: u32,
}

impl Crew {
    /// Threads, of which the caller's is one.
    pub fn new(threads: usize) -> Crew {
        let others = (1..threads).map(|number| {
            let (sender, shares) = mpsc::channel();
            // It ends when the crew does.
            thread::spawn(move || serve(number, &shares));
            sender
        });
        Crew { others: others.collect(), process: process::id() }
    }

    /// Does all parts, and returns the complaint of one that failed. A panic of a part goes on here.
    pub fn carry_out(&self, work: Arc<dyn Work>, count: usize) -> Result<(), String> {
        let others = if process::id() == self.process { &self.others[..] } else { &[] };
        let parts = Arc::new(Parts::new(others.len() + 1, count));
        let (done, ends) = mpsc::channel();
        for other in others {
            let share = Share { work: work.clone(), parts: parts.clone(), done: done.clone() };
            other.send(share).expect("a thread of the crew waits for work");
        }
        drop(done);
        let own = panic::catch_unwind(AssertUnwindSafe(|| do_share(work.as_ref(), &parts, 0)));
        // All have ended before anything else happens to what they work on.
        let ended: Vec<_> = ends.into_iter().chain([own]).collect();
        ended.into_iter().try_for_each(|end| end.unwrap_or_else(|panic| panic::resume_unwind(panic)))
    }
}

fn serve(number: usize, shares: &Receiver<Share>) {
    while let Ok(Share { work, parts, done }) = shares.recv() {
        let end = panic::catch_unwind(AssertUnwindSafe(|| do_share(work.as_ref(), &parts, number)));
        drop(work);
        // Nobody hears it if the caller has gone.
        let _ = done.send(end);
    }
}

fn do_share(work: &dyn Work, parts: &Parts, thread: usize) -> Result<(), String> {
    while let Some(part) = parts.take(thread) {
        work.part(part)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts how often each part is done; some fail, or panic.
    struct Counting {
        done: Vec<AtomicUsize>,
        fails: Option<usize>,
        panics: Option<usize>,
    }

    impl Work for Counting {
        fn part(&self, number: usize) -> Result<(), String> {
            self.done[number].fetch_add(1, Ordering::Relaxed);
            assert!(self.panics != Some(number), "part {number} panics");
            if self.fails == Some(number) { Err(format!("part {number} fails")) } else { Ok(()) }
        }
    }

    fn counting(count: usize, fails: Option<usize>, panics: Option<usize>) -> Arc<Counting> {
        Arc::new(Counting { done: (0..count).map(|_| AtomicUsize::new(0)).collect(), fails, panics })
    }

    /// Every part is done once, by however many threads, more than there are parts among them; and again by the same crew.
    #[test]
    fn each_part_once() {
        for threads in [1, 2, 3, 8] {
            let crew = Crew::new(threads);
            for count in [0, 1, 2, 5, 64, 1000] {
                let work = counting(count, None, None);
                assert_eq!(crew.carry_out(work.clone(), count), Ok(()));
                assert!(
                    work.done.iter().all(|done| done.load(Ordering::Relaxed) == 1),
                    "{threads} threads, {count} parts"
                );
            }
        }
    }

    /// A part that fails is told, and a panic goes on in the caller; the crew works on afterwards.
    #[test]
    fn failures() {
        let crew = Crew::new(2);
        for part in [0, 40, 63] {
            assert_eq!(crew.carry_out(counting(64, Some(part), None), 64), Err(format!("part {part} fails")));
            let panicked = panic::catch_unwind(AssertUnwindSafe(|| crew.carry_out(counting(64, None, Some(part)), 64)));
            assert!(panicked.is_err());
            assert_eq!(crew.carry_out(counting(64, None, None), 64), Ok(()));
        }
    }
}
