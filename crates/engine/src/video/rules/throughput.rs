//! The rate-based rule: the highest bit rate below the harmonic mean of the throughputs of the last five segments, as in the
//! baseline "RB" of Yin, Jindal, Sekar and Sinopoli, "A Control-Theoretic Approach for Dynamic Adaptive Video Streaming over HTTP",
//! SIGCOMM 2015, and of Mao, Netravali and Alizadeh, "Neural Adaptive Video Streaming with Pensieve", SIGCOMM 2017, section 5.1. The
//! harmonic mean is that of FESTIVE (Jiang, Sekar and Zhang, CoNEXT 2012).

use std::collections::VecDeque;

use super::{Download, View};

/// Segments of which the mean is taken.
const SAMPLES: usize = 5;

/// The rule. The first segment has the lowest rate.
#[derive(Clone, Debug, Default)]
pub struct Throughput {
    /// Seconds a bit of the latest segments.
    times: VecDeque<f64>,
}

about! { Throughput:
    name: "throughput",
    title: "Rate-based, by the harmonic mean of five throughputs",
    class: "rate",
    year: 2015,
    source: "Yin, Jindal, Sekar and Sinopoli, \"A Control-Theoretic Approach for Dynamic Adaptive Video Streaming over \
             HTTP\", SIGCOMM 2015, as RB",
    deviations: "",
}

impl Throughput {
    /// The harmonic mean of the throughputs, in bit/s; none before the first segment.
    pub fn prediction(&self) -> Option<f64> {
        (!self.times.is_empty()).then(|| self.times.len() as f64 / self.times.iter().sum::<f64>())
    }

    pub fn choose(&self, view: &View) -> usize {
        self.prediction().map_or(0, |rate| view.ladder.below(rate))
    }

    pub fn on_download(&mut self, download: &Download) {
        if self.times.len() == SAMPLES {
            self.times.pop_front();
        }
        self.times.push_back(download.time.seconds() / (download.bytes as f64 * 8.0));
    }
}
