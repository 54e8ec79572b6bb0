//! A queue discipline of a user's file in Python, for one link.

use std::fmt;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use sojourn_engine::failure::Failure;
use sojourn_engine::inner::Tell;
use sojourn_engine::queue::{PluginQueue, Seen, Verdict, View};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;
use sojourn_native::{Recorder as Values, enter};

use super::recorded::Recorder;
use super::shown::Shown;
use super::{File, Hooks, views};

pub struct PythonQueue {
    file: File,
    failure: Failure,
    instance: Py<PyAny>,
    shown: Shown,
    lines: usize,
    interval: Option<Duration>,
    overflow: Option<Py<PyAny>>,
    classify: Option<Py<PyAny>>,
    admit: Option<Py<PyAny>>,
    next_line: Option<Py<PyAny>>,
    release: Option<Py<PyAny>>,
    set_link_rate: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    packet: Py<views::Packet>,
    view: Py<views::QueueView>,
    /// The stream that hooks draw from, if they draw.
    random: Option<Py<views::Random>>,
    recorder: Py<Recorder>,
}

impl fmt::Debug for PythonQueue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PythonQueue").field("file", &self.file.name).finish_non_exhaustive()
    }
}

impl PythonQueue {
    /// # Errors
    /// One line if the user's code raised something.
    pub fn new(
        py: Python<'_>,
        file: File,
        parameters: String,
        failure: Failure,
        values: Values,
    ) -> Result<PythonQueue, String> {
        let made = enter(|| PythonQueue::made(py, &file, &parameters, failure, values));
        made.map_err(|error| file.explain(py, "__init__", &error))
    }

    fn made(py: Python<'_>, file: &File, parameters: &str, failure: Failure, values: Values) -> PyResult<PythonQueue> {
        let draws: bool = file.object.getattr(py, "queue_draws")?.extract(py)?;
        let random = if draws { Some(Py::new(py, views::Random::unset())?) } else { None };
        let shared = random.as_ref().map(|random| random.clone_ref(py));
        let link = values.which().to_owned();
        let recorder = Py::new(py, Recorder::new(values))?;
        let told = (parameters, shared, recorder.clone_ref(py), link);
        let instance = file.object.call_method1(py, "queue", told)?.into_bound(py);
        let defined = file.object.getattr(py, "queue_hooks")?.extract(py)?;
        let hooks = Hooks { instance: instance.clone(), defined };
        let mut queue = PythonQueue {
            shown: Shown::of(py, file, "queue")?,
            lines: instance.getattr("lines")?.extract()?,
            interval: None,
            overflow: hooks.get("overflow")?,
            classify: hooks.get("classify")?,
            admit: hooks.get("admit")?,
            next_line: hooks.get("next_line")?,
            release: hooks.get("release")?,
            set_link_rate: hooks.get("set_link_rate")?,
            on_timer: hooks.get("on_timer")?,
            packet: Py::new(py, views::Packet::unset())?,
            view: Py::new(py, views::QueueView::default())?,
            random,
            recorder,
            instance: instance.unbind(),
            file: file.clone_ref(py),
            failure,
        };
        if queue.on_timer.is_some() {
            queue.interval = queue.asked_interval(py)?;
        }
        Ok(queue)
    }

    fn asked_interval(&self, py: Python<'_>) -> PyResult<Option<Duration>> {
        let seconds: Option<f64> = self.instance.getattr(py, "timer_interval")?.extract(py)?;
        Ok(seconds.map(Duration::from_seconds_f64))
    }

    /// Calls what the user wrote; its exception is the run's failure.
    fn guarded<T>(&self, py: Python<'_>, hook: &str, call: impl FnOnce() -> PyResult<T>) -> Option<T> {
        enter(call).map_err(|error| self.failure.report(self.file.explain(py, hook, &error))).ok()
    }

    /// Calls a hook with the view and what else it is told.
    fn hook<'py, A: PyCallArgs<'py>>(
        &self,
        py: Python<'py>,
        name: &str,
        hook: &Py<PyAny>,
        view: &mut View,
        told: impl FnOnce(Py<views::QueueView>) -> A,
    ) -> Option<Py<PyAny>> {
        self.show(py, view.now, view.packets, view.bytes);
        if let Some(random) = &self.random {
            random.borrow_mut(py).random = view.random.clone();
        }
        let answer = self.guarded(py, name, || hook.call1(py, told(self.view.clone_ref(py))))?;
        if let Some(random) = &self.random {
            *view.random = random.borrow(py).random.clone();
        }
        Some(answer)
    }

    fn show(&self, py: Python<'_>, now: Time, packets: &[u64], bytes: &[u64]) {
        self.recorder.borrow_mut(py).at(now);
        let mut shown = self.view.borrow_mut(py);
        shown.time = now;
        shown.line_packets.clear();
        shown.line_packets.extend_from_slice(packets);
        shown.line_bytes.clear();
        shown.line_bytes.extend_from_slice(bytes);
    }

    fn line(&self, py: Python<'_>, hook: &str, answer: Option<Py<PyAny>>) -> usize {
        let Some(answer) = answer else { return 0 };
        answer.extract::<usize>(py).unwrap_or_else(|_| {
            self.nonsense(py, hook, &answer, "the number of a line");
            0
        })
    }

    fn verdict(&self, py: Python<'_>, hook: &str, answer: Option<Py<PyAny>>) -> Verdict {
        let Some(answer) = answer else { return Verdict::Pass };
        match answer.extract::<Option<u64>>(py) {
            Ok(None | Some(0)) => Verdict::Pass,
            Ok(Some(1)) => Verdict::Mark,
            Ok(Some(2)) => Verdict::Drop,
            _ => {
                self.nonsense(py, hook, &answer, "PASS, MARK or DROP");
                Verdict::Pass
            }
        }
    }

    fn nonsense(&self, py: Python<'_>, hook: &str, answer: &Py<PyAny>, wanted: &str) {
        let shown = answer.bind(py).repr().map_or_else(|_| "something else".to_owned(), |text| text.to_string());
        self.failure.report(self.complaint(hook, &format!("returned {shown}, which is not {wanted}")));
    }

    fn packet(&self, py: Python<'_>, seen: &Seen) -> Py<views::Packet> {
        self.packet.borrow_mut(py).seen = *seen;
        self.packet.clone_ref(py)
    }
}

impl PluginQueue for PythonQueue {
    fn lines(&self) -> usize {
        self.lines
    }

    fn overflow(&mut self, packet: &Seen, view: &mut View) {
        let Some(hook) = &self.overflow else { return };
        Python::attach(|py| {
            self.hook(py, "overflow", hook, view, |view| (self.packet(py, packet), view));
        });
    }

    fn classify(&mut self, packet: &Seen, view: &mut View) -> usize {
        let Some(hook) = &self.classify else { return 0 };
        Python::attach(|py| {
            let answer = self.hook(py, "classify", hook, view, |view| (self.packet(py, packet), view));
            self.line(py, "classify", answer)
        })
    }

    fn admit(&mut self, packet: &Seen, line: usize, view: &mut View) -> Verdict {
        let Some(hook) = &self.admit else { return Verdict::Pass };
        Python::attach(|py| {
            let answer = self.hook(py, "admit", hook, view, |view| (self.packet(py, packet), line, view));
            self.verdict(py, "admit", answer)
        })
    }

    fn next_line(&mut self, view: &mut View) -> usize {
        let Some(hook) = &self.next_line else {
            return view.packets.iter().position(|packets| *packets > 0).unwrap_or_default();
        };
        Python::attach(|py| {
            let answer = self.hook(py, "next_line", hook, view, |view| (view,));
            self.line(py, "next_line", answer)
        })
    }

    fn release(&mut self, packet: &Seen, line: usize, view: &mut View) -> Verdict {
        let Some(hook) = &self.release else { return Verdict::Pass };
        Python::attach(|py| {
            let answer = self.hook(py, "release", hook, view, |view| (self.packet(py, packet), line, view));
            self.verdict(py, "release", answer)
        })
    }

    fn set_link_rate(&mut self, rate: Rate) {
        let Some(hook) = &self.set_link_rate else { return };
        Python::attach(|py| self.guarded(py, "set_link_rate", || hook.call1(py, (rate.0,))));
    }

    fn timer_interval(&self) -> Option<Duration> {
        self.interval
    }

    fn on_timer(&mut self, now: Time, packets: &[u64], bytes: &[u64]) {
        let Some(hook) = &self.on_timer else { return };
        self.interval = Python::attach(|py| {
            self.show(py, now, packets, bytes);
            self.guarded(py, "on_timer", || hook.call1(py, (self.view.clone_ref(py),)))?;
            self.guarded(py, "timer_interval", || self.asked_interval(py))?
        });
    }

    fn tell_state(&self, tell: &mut Tell<'_>) {
        let fault =
            Python::attach(|py| self.guarded(py, "state", || self.shown.tell(self.instance.bind(py), tell)).flatten());
        if let Some((name, what)) = fault {
            self.failure.report(self.complaint(name, &what));
        }
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        self.file.complaint("queue", hook, what)
    }
}
