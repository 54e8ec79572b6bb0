//! A congestion control of a user's file in Python, for one flow.

use std::fmt;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_engine::failure::Failure;
use sojourn_engine::random::Random;
use sojourn_engine::tcp::congestion::{self, CongestionControl, CongestionEvent, Needs, PluginControl};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;
use sojourn_native::{Recorded, Recorder as Values, count_call};

use super::recorded::{self, Recorder};
use super::{File, Hooks, views};

/// See the module.
pub struct PythonControl {
    file: File,
    parameters: String,
    needs: Needs,
    failure: Failure,
    recorded: Recorded,
    flow: u32,
    /// None before the flow begins.
    instance: Option<Instance>,
}

/// The user's object: its hooks, and what they are shown.
struct Instance {
    increase: Option<Py<PyAny>>,
    on_congestion: Option<Py<PyAny>>,
    on_ack: Option<Py<PyAny>>,
    increase_in_slow_start: Option<Py<PyAny>>,
    on_delivery: Option<Py<PyAny>>,
    on_segment_lost: Option<Py<PyAny>>,
    on_restart: Option<Py<PyAny>>,
    on_idle: Option<Py<PyAny>>,
    pacing_rate: Option<Py<PyAny>>,
    pacing_quantum: Option<Py<PyAny>>,
    window: Py<views::Window>,
    ack: Py<views::Ack>,
    delivery: Py<views::Delivery>,
    recorder: Py<Recorder>,
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
        Ok(PythonControl { file, parameters, needs, failure, recorded, flow: 0, instance: None })
    }

    /// Makes the user's object, before all hooks. It draws from a stream if there is one.
    fn begin(&mut self, random: Option<Random>) {
        Python::attach(|py| {
            count_call();
            recorded::enter(Some(self.flow));
            let made = self.made(py, random);
            recorded::enter(None);
            count_call();
            match made {
                Ok(instance) => self.instance = Some(instance),
                Err(error) => self.failure.report(self.file.explain(py, "__init__", &error)),
            }
        });
    }

    fn made(&self, py: Python<'_>, random: Option<Random>) -> PyResult<Instance> {
        let random = random.map(|random| Py::new(py, views::Random { random })).transpose()?;
        let recorder = Py::new(py, Recorder::new(Values::of_flow(self.recorded.clone(), self.flow)))?;
        let told = (self.parameters.as_str(), random, recorder.clone_ref(py), self.flow);
        let made = self.file.object.call_method1(py, "control", told)?.into_bound(py);
        let defined = self.file.object.getattr(py, "control_hooks")?.into_bound(py).cast_into::<PyDict>()?;
        let hooks = Hooks { instance: made, defined };
        let window = Window { cwnd: 1, ssthresh: u64::MAX, mss: 1 };
        Ok(Instance {
            increase: hooks.get("increase")?,
            on_congestion: hooks.get("on_congestion")?,
            on_ack: hooks.get("on_ack")?,
            increase_in_slow_start: hooks.get("increase_in_slow_start")?,
            on_delivery: hooks.get("on_delivery")?,
            on_segment_lost: hooks.get("on_segment_lost")?,
            on_restart: hooks.get("on_restart")?,
            on_idle: hooks.get("on_idle")?,
            pacing_rate: hooks.get("pacing_rate")?,
            pacing_quantum: hooks.get("pacing_quantum")?,
            window: Py::new(py, views::Window { window, is_open: false })?,
            ack: Py::new(py, views::Ack::default())?,
            delivery: Py::new(py, views::Delivery::default())?,
            recorder,
        })
    }

    /// Calls what the user wrote; its exception is the run's failure.
    fn guarded<T>(&self, py: Python<'_>, hook: &str, call: impl FnOnce() -> PyResult<T>) -> Option<T> {
        count_call();
        recorded::enter(Some(self.flow));
        let answer = call();
        recorded::enter(None);
        count_call();
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.failure.report(self.file.explain(py, hook, &error));
                None
            }
        }
    }

    /// Calls a hook, at its time, with the window and what else it is told. The hook may change the window if `is_open`.
    fn hook<'py, A: PyCallArgs<'py>>(
        &self,
        py: Python<'py>,
        name: &str,
        select: impl Fn(&Instance) -> Option<&Py<PyAny>>,
        window: &mut Window,
        (now, is_open): (Time, bool),
        told: impl FnOnce(&Instance, Py<views::Window>) -> PyResult<A>,
    ) -> Option<Py<PyAny>> {
        if self.failure.is_set() {
            return None;
        }
        let instance = self.instance.as_ref()?;
        let hook = select(instance)?;
        instance.recorder.borrow_mut(py).at(now);
        *instance.window.borrow_mut(py) = views::Window { window: *window, is_open };
        let answer = self.guarded(py, name, || hook.call1(py, told(instance, instance.window.clone_ref(py))?))?;
        *window = instance.window.borrow(py).window;
        Some(answer)
    }

    /// Reads what a hook returned.
    fn read<'py, T: FromPyObjectOwned<'py>>(
        &self,
        py: Python<'py>,
        hook: &str,
        wanted: &str,
        answer: &Py<PyAny>,
    ) -> Option<T> {
        let read = answer.bind(py).extract::<T>();
        if read.is_err() {
            let shown = answer.bind(py).repr().map_or_else(|_| "something else".to_owned(), |text| text.to_string());
            self.failure.report(self.complaint(hook, &format!("returned {shown}, which is not {wanted}")));
        }
        read.ok()
    }
}

impl CongestionControl for PythonControl {
    fn increase(&mut self, window: &mut Window, ack: &congestion::Ack) {
        Python::attach(|py| {
            self.hook(
                py,
                "increase",
                |hooks| hooks.increase.as_ref(),
                window,
                (ack.now, true),
                |seen, window| {
                    seen.ack.borrow_mut(py).ack = *ack;
                    Ok((window, seen.ack.clone_ref(py)))
                },
            );
        });
    }

    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        Python::attach(|py| {
            self.hook(
                py,
                "on_congestion",
                |hooks| hooks.on_congestion.as_ref(),
                window,
                (now, true),
                |_, window| Ok((window, Py::new(py, views::Event { event, time: now })?)),
            );
        });
    }

    fn on_ack(&mut self, window: &Window, ack: &congestion::Ack) {
        if self.instance.as_ref().is_some_and(|hooks| hooks.on_ack.is_none()) {
            return;
        }
        let mut unchanged = *window;
        Python::attach(|py| {
            self.hook(
                py,
                "on_ack",
                |hooks| hooks.on_ack.as_ref(),
                &mut unchanged,
                (ack.now, false),
                |seen, window| {
                    seen.ack.borrow_mut(py).ack = *ack;
                    Ok((window, seen.ack.clone_ref(py)))
                },
            );
        });
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &congestion::Ack) -> Option<u64> {
        if self.instance.as_ref().is_some_and(|hooks| hooks.increase_in_slow_start.is_none()) {
            return None;
        }
        let name = "increase_in_slow_start";
        Python::attach(|py| {
            let left = self.hook(
                py,
                name,
                |hooks| hooks.increase_in_slow_start.as_ref(),
                window,
                (ack.now, true),
                |seen, window| {
                    seen.ack.borrow_mut(py).ack = *ack;
                    Ok((window, seen.ack.clone_ref(py)))
                },
            )?;
            self.read::<Option<u64>>(py, name, "a number of bytes or None", &left).flatten()
        })
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &congestion::Delivery) {
        Python::attach(|py| {
            self.hook(
                py,
                "on_delivery",
                |hooks| hooks.on_delivery.as_ref(),
                window,
                (delivery.now, true),
                |seen, window| {
                    seen.delivery.borrow_mut(py).delivery = *delivery;
                    Ok((window, seen.delivery.clone_ref(py)))
                },
            );
        });
    }

    fn on_segment_lost(&mut self, window: &mut Window, lost: &congestion::LostSegment) {
        Python::attach(|py| {
            self.hook(
                py,
                "on_segment_lost",
                |hooks| hooks.on_segment_lost.as_ref(),
                window,
                (lost.now, true),
                |_, window| Ok((window, Py::new(py, views::LostSegment { lost: *lost })?)),
            );
        });
    }

    fn on_restart(&mut self, window: &mut Window, now: Time) {
        Python::attach(|py| {
            self.hook(
                py,
                "on_restart",
                |hooks| hooks.on_restart.as_ref(),
                window,
                (now, true),
                |_, window| Ok((window, now.seconds())),
            );
        });
    }

    fn on_idle(&mut self, window: &mut Window, idle: Duration, now: Time) {
        Python::attach(|py| {
            self.hook(
                py,
                "on_idle",
                |hooks| hooks.on_idle.as_ref(),
                window,
                (now, true),
                |_, window| Ok((window, idle.seconds(), now.seconds())),
            );
        });
    }

    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        let instance = self.instance.as_ref()?;
        let hook = instance.pacing_rate.as_ref()?;
        Python::attach(|py| {
            *instance.window.borrow_mut(py) = views::Window { window: *window, is_open: false };
            let name = "pacing_rate";
            let told = (instance.window.clone_ref(py), srtt.seconds());
            let rate = self.guarded(py, name, || hook.call1(py, told))?;
            let rate = self.read::<Option<f64>>(py, name, "a rate in bits per second or None", &rate)??;
            if !(1.0..1e18).contains(&rate) {
                self.failure.report(self.complaint(name, &format!("returned {rate} bits per second")));
                return None;
            }
            Some(Rate(rate as u64))
        })
    }

    fn pacing_quantum(&self, mss: u64) -> u64 {
        let Some(hook) = self.instance.as_ref().and_then(|hooks| hooks.pacing_quantum.as_ref()) else { return 0 };
        Python::attach(|py| {
            let name = "pacing_quantum";
            let quantum = self.guarded(py, name, || hook.call1(py, (mss,)))?;
            self.read::<u64>(py, name, "a number of bytes", &quantum)
        })
        .unwrap_or_default()
    }

    fn take_flow(&mut self, flow: u32) {
        self.flow = flow;
        // One that draws begins once it has its stream.
        if !self.needs.random {
            self.begin(None);
        }
    }

    fn take_random(&mut self, random: Random) {
        self.begin(Some(random));
    }

    fn needs(&self) -> Needs {
        self.needs
    }
}

impl PluginControl for PythonControl {
    fn fresh(&self) -> Box<dyn PluginControl> {
        Box::new(Python::attach(|py| PythonControl {
            file: self.file.clone_ref(py),
            parameters: self.parameters.clone(),
            needs: self.needs,
            failure: self.failure.clone(),
            recorded: self.recorded.clone(),
            flow: self.flow,
            instance: None,
        }))
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        self.file.complaint("control", hook, what)
    }
}
