//! What hooks in Python see: times in seconds, sizes in bytes, rates in bits per second.
//!
//! The objects are made once a flow or queue and filled anew for each call, so they are valid only during the call.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use sojourn_engine::packet::LoadFactor;
use sojourn_engine::queue::Seen;
use sojourn_engine::random::{self, Purpose};
use sojourn_engine::tcp::congestion::{self, CongestionEvent, Shown};
use sojourn_engine::tcp::window;
use sojourn_engine::time::Time;

/// The congestion window and its threshold, in bytes.
#[pyclass(module = "sojourn._engine")]
pub struct Window {
    pub window: window::Window,
    /// Whether the hook may change it.
    pub is_open: bool,
}

impl Window {
    fn whole(&self, name: &str, value: &Bound<'_, PyAny>, least: u64, of: &str) -> PyResult<u64> {
        if !self.is_open {
            return Err(PyAttributeError::new_err(format!("{name}: the window cannot be changed in this hook")));
        }
        let shown = || value.repr().map_or_else(|_| "it".to_owned(), |text| text.to_string());
        let Ok(bytes) = value.extract::<u64>() else {
            return Err(PyTypeError::new_err(format!("{name}: {} is not a whole number of bytes", shown())));
        };
        if bytes < least {
            return Err(PyValueError::new_err(format!("{name}: {bytes} bytes are less than {of} ({least})")));
        }
        Ok(bytes)
    }
}

#[pymethods]
impl Window {
    /// Congestion window.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.window.cwnd = self.whole("cwnd", value, self.window.mss, "one segment")?;
        Ok(())
    }

    /// Slow start threshold; 2**64 - 1 until the first congestion.
    #[getter(ssthresh)]
    fn get_ssthresh(&self) -> u64 {
        self.window.ssthresh
    }

    #[setter(ssthresh)]
    fn put_ssthresh(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.window.ssthresh = self.whole("ssthresh", value, self.window.least_ssthresh(), "two segments")?;
        Ok(())
    }

    /// Segment size, payload only.
    #[getter]
    fn mss(&self) -> u64 {
        self.window.mss
    }

    /// The congestion window in segments.
    #[getter]
    fn segments(&self) -> f64 {
        self.window.segments()
    }

    /// Whether cwnd is below ssthresh.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }

    /// Sets ssthresh after congestion: rounded down, and two segments at least.
    fn set_ssthresh(&mut self, bytes: f64) -> PyResult<()> {
        if !self.is_open {
            return Err(PyAttributeError::new_err("ssthresh: the window cannot be changed in this hook"));
        }
        if !bytes.is_finite() {
            return Err(PyValueError::new_err(format!("ssthresh: {bytes} is not a finite number of bytes")));
        }
        self.window.set_ssthresh(bytes as u64);
        Ok(())
    }
}

/// Grows and shrinks windows by fractions of a byte and keeps the rest for the next time, as `congestion::Growth` does.
#[pyclass(module = "sojourn._engine")]
#[derive(Default)]
pub struct Growth {
    fraction: f64,
}

#[pymethods]
impl Growth {
    #[new]
    fn new() -> Growth {
        Growth::default()
    }

    /// Grows the window by a number of bytes; a negative number shrinks it, to one segment at the least.
    fn add(&mut self, window: &mut Window, bytes: f64) -> PyResult<()> {
        if !window.is_open {
            return Err(PyAttributeError::new_err("cwnd: the window cannot be changed in this hook"));
        }
        if !(-1e15..1e15).contains(&bytes) {
            return Err(PyValueError::new_err(format!("{bytes} is not a number of bytes to grow by")));
        }
        let bytes = bytes + self.fraction;
        let whole = bytes.floor();
        self.fraction = bytes - whole;
        let Window { window, .. } = window;
        window.cwnd = match whole {
            0.0.. => window.cwnd + whole as u64,
            _ => window.cwnd.saturating_sub(-whole as u64).max(window.mss),
        };
        Ok(())
    }

    /// Additive increase: a number of segments for a window of credited bytes, but no more than what is credited. A negative
    /// number is an additive decrease.
    fn additive(&mut self, window: &mut Window, segments: f64, credit: u64) -> PyResult<()> {
        let share = (segments / window.window.segments()).clamp(-1.0, 1.0);
        self.add(window, share * credit as f64)
    }
}

/// A value that hooks are shown.
struct Value(Shown);

impl<'py> IntoPyObject<'py> for Value {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0 {
            Shown::Time(time) => time.map(|time| Time(time).seconds()).into_bound_py_any(py),
            Shown::Number(number) => number.into_bound_py_any(py),
            Shown::Flag(flag) => flag.into_bound_py_any(py),
            Shown::Load(load) => load.map(loaded).into_bound_py_any(py),
        }
    }
}

fn loaded(load: LoadFactor) -> &'static str {
    match load {
        LoadFactor::Low => "low",
        LoadFactor::High => "high",
        LoadFactor::Overload => "overload",
    }
}

macro_rules! views {
    ($($structure:ident { $($field:ident)* })*) => {
        $(view! { $structure { $($field)* } })*
    };
}

/// A structure of the table, and what is not a value of it: rates.
macro_rules! view {
    (Delivery $fields:tt) => {
        view! { @ Delivery $fields
            #[getter]
            fn rate(&self) -> Option<RateSample> {
                self.shown.rate.map(|shown| RateSample { shown })
            }
        }
    };
    (RateSample $fields:tt) => {
        view! { @ RateSample $fields
            /// Bits per second, if the sample gives a rate.
            #[getter]
            fn rate(&self) -> Option<f64> {
                self.shown.rate().map(|bytes| 8.0 * bytes)
            }
        }
    };
    (@ $structure:ident { $($field:ident)* } $($more:tt)*) => {
        #[doc = concat!("See `congestion::", stringify!($structure), "`.")]
        #[pyclass(module = "sojourn._engine")]
        #[derive(Default)]
        pub struct $structure {
            pub shown: congestion::$structure,
        }

        #[pymethods]
        impl $structure {
            $(#[getter]
            fn $field(&self) -> Value {
                Value(self.shown.$field.into())
            })*
            $($more)*
        }
    };
    ($structure:ident $fields:tt) => {
        view! { @ $structure $fields }
    };
}

sojourn_engine::shown!(views);

/// A congestion event.
#[pyclass(module = "sojourn._engine", frozen)]
pub struct Event {
    pub event: CongestionEvent,
    pub time: Time,
}

#[pymethods]
impl Event {
    #[getter]
    fn now(&self) -> f64 {
        self.time.seconds()
    }
    /// `loss`, `ecn`, `timeout` or `spurious`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.event {
            CongestionEvent::Loss { .. } => "loss",
            CongestionEvent::Ecn { .. } => "ecn",
            CongestionEvent::Timeout => "timeout",
            CongestionEvent::Spurious => "spurious",
        }
    }
    #[getter]
    fn flight_size(&self) -> Option<u64> {
        self.event.flight_size()
    }
    #[getter]
    fn abe(&self) -> bool {
        matches!(self.event, CongestionEvent::Ecn { abe: true, .. })
    }
}

/// A stream of random numbers of a flow or queue.
#[pyclass(module = "sojourn._engine")]
pub struct Random {
    pub random: random::Random,
}

impl Random {
    /// A place for a stream that is put there before each call.
    pub fn unset() -> Random {
        Random { random: random::Random::stream(0, Purpose::Queue, 0) }
    }
}

#[pymethods]
impl Random {
    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        self.random.unit()
    }
    /// Uniform in 0, 1, ... count - 1.
    fn index(&mut self, count: u64) -> u64 {
        self.random.index(count)
    }
    /// Sixty-four random bits.
    fn bits(&mut self) -> u64 {
        self.random.bits()
    }
}

/// A packet that arrives at a queue or is to leave it.
#[pyclass(module = "sojourn._engine")]
pub struct Packet {
    pub seen: Seen,
}

impl Packet {
    pub fn unset() -> Packet {
        let since = Time::ZERO;
        Packet { seen: Seen { flow: 0, size: 0, is_data: false, is_ecn_capable: false, is_marked: false, since } }
    }
}

#[pymethods]
impl Packet {
    #[getter]
    fn flow(&self) -> u32 {
        self.seen.flow
    }
    #[getter]
    fn size(&self) -> u16 {
        self.seen.size
    }
    #[getter]
    fn is_data(&self) -> bool {
        self.seen.is_data
    }
    #[getter]
    fn is_ecn_capable(&self) -> bool {
        self.seen.is_ecn_capable
    }
    #[getter]
    fn is_marked(&self) -> bool {
        self.seen.is_marked
    }
    #[getter]
    fn since(&self) -> f64 {
        self.seen.since.seconds()
    }
}

/// The queue as a hook sees it.
#[pyclass(module = "sojourn._engine")]
#[derive(Default)]
pub struct QueueView {
    pub time: Time,
    pub line_packets: Vec<u64>,
    pub line_bytes: Vec<u64>,
}

#[pymethods]
impl QueueView {
    #[getter]
    fn now(&self) -> f64 {
        self.time.seconds()
    }
    /// Packets in all lines.
    #[getter]
    fn packets(&self) -> u64 {
        self.line_packets.iter().sum()
    }
    /// Bytes in all lines.
    #[getter]
    fn bytes(&self) -> u64 {
        self.line_bytes.iter().sum()
    }
    /// Packets in a line.
    fn packets_of(&self, line: usize) -> PyResult<u64> {
        self.line_packets.get(line).copied().ok_or_else(|| PyIndexError::new_err(format!("there is no line {line}")))
    }
    /// Bytes in a line.
    fn bytes_of(&self, line: usize) -> PyResult<u64> {
        self.line_bytes.get(line).copied().ok_or_else(|| PyIndexError::new_err(format!("there is no line {line}")))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Window>()?;
    module.add_class::<Growth>()?;
    module.add_class::<Ack>()?;
    module.add_class::<Event>()?;
    module.add_class::<RateSample>()?;
    module.add_class::<Delivery>()?;
    module.add_class::<LostSegment>()?;
    module.add_class::<Random>()?;
    module.add_class::<Packet>()?;
    module.add_class::<QueueView>()?;
    Ok(())
}
