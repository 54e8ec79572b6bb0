//! A congestion control of a user's file in Python, for one flow.

use std::fmt;

use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyTuple};
use sojourn_engine::failure::Failure;
use sojourn_engine::inner::Tell;
use sojourn_engine::random::Random;
use sojourn_engine::tcp::congestion::{Hook, Needs, PluginControl, Returns, Told, rate_of};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::Time;
use sojourn_native::{Recorded, Recorder as Values, enter};

use super::recorded::{self, Recorder};
use super::shown::Shown;
use super::{File, views};

pub struct PythonControl {
    file: File,
    parameters: String,
    needs: Needs,
    hooks: u32,
    shown: Shown,
    failure: Failure,
    recorded: Recorded,
    flow: u32,
    /// None before the flow begins.
    instance: Option<Instance>,
}

/// The user's object: its hooks, and what they are shown.
struct Instance {
    object: Py<PyAny>,
    hooks: Vec<Option<Py<PyAny>>>,
    window: Py<views::Window>,
    ack: Py<views::Ack>,
    delivery: Py<views::Delivery>,
    recorder: Py<Recorder>,
}

impl Instance {
    /// Calls a hook with what it is told.
    fn call(&self, py: Python<'_>, hook: &Py<PyAny>, told: Told<'_>) -> PyResult<Py<PyAny>> {
        let window = || self.window.clone_ref(py);
        match told {
            Told::Ack(ack) => {
                self.ack.borrow_mut(py).shown = *ack;
                hook.call1(py, (window(), self.ack.clone_ref(py)))
            }
            Told::Event(event, time) => hook.call1(py, (window(), views::Event { event, time })),
            Told::Delivery(delivery) => {
                self.delivery.borrow_mut(py).shown = *delivery;
                hook.call1(py, (window(), self.delivery.clone_ref(py)))
            }
            Told::Lost(lost) => hook.call1(py, (window(), views::LostSegment { shown: *lost })),
            Told::Times(times, now) => {
                let times = times.iter().map(|time| time.seconds()).chain(now.map(Time::seconds));
                let mut told = vec![window().into_any()];
                for time in times {
                    told.push(PyFloat::new(py, time).into_any().unbind());
                }
                hook.call1(py, PyTuple::new(py, told)?)
            }
            Told::Bytes(bytes) => hook.call1(py, (bytes,)),
        }
    }
}

impl fmt::Debug for PythonControl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PythonControl").field("file", &self.file.name).finish_non_exhaustive()
    }
}

impl PythonControl {
    /// # Errors
    /// One line if the file's needs cannot be read.
    pub fn new(
        py: Python<'_>,
        file: File,
        parameters: String,
        failure: Failure,
        recorded: Recorded,
    ) -> Result<PythonControl, String> {
        let needs: PyResult<String> = file.object.getattr(py, "needs").and_then(|needs| needs.extract(py));
        let needs = needs.map_err(|error| file.explain(py, "needs", &error))?;
        let needs = serde_json::from_str(&needs).map_err(|error| format!("{}: {error}", file.name))?;
        let hooks = file.object.getattr(py, "control_hooks").and_then(|hooks| hooks.extract::<Vec<String>>(py));
        let hooks = hooks.map_err(|error| file.explain(py, "hooks", &error))?;
        let hooks = Hook::set(hooks.iter().map(String::as_str));
        let shown = Shown::of(py, &file, "control").map_err(|error| file.explain(py, "state", &error))?;
        Ok(PythonControl { file, parameters, needs, hooks, shown, failure, recorded, flow: 0, instance: None })
    }

    fn made(&self, py: Python<'_>, random: Option<Random>) -> PyResult<Instance> {
        let random = random.map(|random| Py::new(py, views::Random { random })).transpose()?;
        let recorder = Py::new(py, Recorder::new(Values::of_flow(self.recorded.clone(), self.flow)))?;
        let told = (self.parameters.as_str(), random, recorder.clone_ref(py), self.flow);
        let made = self.file.object.call_method1(py, "control", told)?.into_bound(py);
        let hook =
            |hook: &Hook| (self.hooks & hook.bit() != 0).then(|| Ok(made.getattr(hook.name())?.unbind())).transpose();
        let window = Window { cwnd: 1, ssthresh: u64::MAX, mss: 1 };
        Ok(Instance {
            object: made.clone().unbind(),
            hooks: Hook::ALL.iter().map(hook).collect::<PyResult<_>>()?,
            window: Py::new(py, views::Window { window, is_open: false })?,
            ack: Py::new(py, views::Ack::default())?,
            delivery: Py::new(py, views::Delivery::default())?,
            recorder,
        })
    }

    /// Calls what the user wrote; its exception is the run's failure.
    fn guarded<T>(&self, py: Python<'_>, hook: &str, call: impl FnOnce() -> PyResult<T>) -> Option<T> {
        let answer = enter(|| {
            recorded::enter(Some(self.flow));
            let answer = call();
            recorded::enter(None);
            answer
        });
        answer.map_err(|error| self.failure.report(self.file.explain(py, hook, &error))).ok()
    }

    /// Reads what a hook returned.
    fn read<'py, T: FromPyObjectOwned<'py>>(&self, py: Python<'py>, hook: Hook, answer: &Py<PyAny>) -> Option<T> {
        let read = answer.bind(py).extract::<T>();
        if read.is_err() {
            let shown = answer.bind(py).repr().map_or_else(|_| "something else".to_owned(), |text| text.to_string());
            let what = format!("returned {shown}, which is not {}", hook.returns().wanted());
            self.failure.report(self.complaint(hook.name(), &what));
        }
        read.ok()
    }
}

impl PluginControl for PythonControl {
    fn fresh(&self) -> Box<dyn PluginControl> {
        Box::new(Python::attach(|py| PythonControl {
            file: self.file.clone_ref(py),
            parameters: self.parameters.clone(),
            needs: self.needs,
            hooks: self.hooks,
            shown: self.shown.clone(),
            failure: self.failure.clone(),
            recorded: self.recorded.clone(),
            flow: self.flow,
            instance: None,
        }))
    }

    fn begin(&mut self, flow: u32, random: Option<Random>) {
        self.flow = flow;
        self.instance = Python::attach(|py| self.guarded(py, "__init__", || self.made(py, random)));
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn hooks(&self) -> u32 {
        self.hooks
    }

    fn call(&self, hook: Hook, window: &mut Window, told: Told<'_>) -> Option<u64> {
        let instance = self.instance.as_ref()?;
        let method = instance.hooks[hook as usize].as_ref()?;
        Python::attach(|py| {
            if let Some(now) = told.now() {
                instance.recorder.borrow_mut(py).at(now);
            }
            *instance.window.borrow_mut(py) = views::Window { window: *window, is_open: hook.changes_window() };
            let answer = self.guarded(py, hook.name(), || instance.call(py, method, told))?;
            *window = instance.window.borrow(py).window;
            match hook.returns() {
                Returns::Nothing => None,
                Returns::Credit => self.read::<Option<u64>>(py, hook, &answer)?,
                Returns::Bytes => self.read(py, hook, &answer),
                Returns::Rate => {
                    let rate = self.read::<Option<f64>>(py, hook, &answer)??;
                    rate_of(rate).map_err(|what| self.failure.report(self.complaint(hook.name(), &what))).ok()
                }
            }
        })
    }

    fn tell_state(&self, tell: &mut Tell<'_>) {
        let Some(instance) = self.instance.as_ref() else { return };
        let fault = Python::attach(|py| {
            self.guarded(py, "state", || self.shown.tell(instance.object.bind(py), tell)).flatten()
        });
        if let Some((name, what)) = fault {
            self.failure.report(self.complaint(name, &what));
        }
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        self.file.complaint("control", hook, what)
    }
}
