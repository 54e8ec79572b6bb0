//! Values that hooks record, with the time of the hook and whose they are. Hooks of other languages record here too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sojourn_engine::columns::RecordedValue;
use sojourn_engine::time::Time;

/// The most values of a run: each takes some fifty bytes.
const MOST: usize = 5_000_000;

/// What Sojourn's own samples are called.
const TAKEN: [&str; 8] = ["cwnd", "ssthresh", "rtt", "bytes_delivered", "bytes_received", "packets", "bytes", "drops"];

/// The values of a run; its clones are the same place.
#[derive(Clone, Debug, Default)]
pub struct Recorded(Arc<Mutex<Vec<RecordedValue>>>);

impl Recorded {
    /// Whether both have the same values.
    pub fn is_same(&self, other: &Recorded) -> bool {
        let mine = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *mine == *other.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The values, in the order in which they were recorded; none is left.
    pub fn take(&self) -> Vec<RecordedValue> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where the hooks of one flow, or of one queue, record values.
#[derive(Debug)]
pub struct Recorder {
    recorded: Recorded,
    kind: &'static str,
    which: Arc<str>,
    names: HashMap<String, Arc<str>>,
    now: Option<Time>,
}

impl Recorder {
    pub fn of_flow(recorded: Recorded, flow: u32) -> Recorder {
        let which = flow.to_string().into();
        Recorder { recorded, kind: "flow", which, names: HashMap::new(), now: None }
    }

    pub fn of_queue(recorded: Recorded, link: &str) -> Recorder {
        Recorder { recorded, kind: "queue", which: link.into(), names: HashMap::new(), now: None }
    }

    /// Whose values these are: the number of the flow, or the link of the queue.
    pub fn which(&self) -> &str {
        &self.which
    }

    /// A hook is about to be called.
    pub fn at(&mut self, now: Time) {
        self.now = Some(now);
    }

    /// Records a value under a name, at the time of the hook that is running.
    pub fn record(&mut self, name: &str, value: f64) -> Result<(), String> {
        let Some(now) = self.now else { return Err("record: no hook has been called yet".to_owned()) };
        if !value.is_finite() {
            return Err(format!("record: \"{name}\" is {value}, which is no finite number"));
        }
        if !self.names.contains_key(name) {
            if name.trim().is_empty() || TAKEN.contains(&name) {
                let taken = TAKEN.join(", ");
                return Err(format!("record: \"{name}\" cannot be a name; Sojourn's own samples are {taken}"));
            }
            self.names.insert(name.to_owned(), name.into());
        }
        let measure = Arc::clone(&self.names[name]);
        let mut rows = self.recorded.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.len() == MOST {
            return Err(format!("record: the run has {MOST} values already; record fewer"));
        }
        rows.push(RecordedValue {
            time: now.seconds(),
            kind: self.kind,
            which: Arc::clone(&self.which),
            measure,
            value,
        });
        Ok(())
    }
}
