//! BOLA: the bit rate that Lyapunov optimisation of utility and rebuffering gives for the buffer (Spiteri, Urgaonkar and Sitaraman,
//! "BOLA: Near-Optimal Bitrate Adaptation for Online Videos", INFOCOM 2016; IEEE/ACM Transactions on Networking 28(4), 2020, equation
//! 11). This is BOLA-BASIC: V is constant, as it is not in BOLA-FINITE, and throughput limits no rate, as it does in BOLA-O and -U.

use super::View;
use crate::time::Duration;
use crate::video::Ladder;

/// γp, how much the avoidance of stalls weighs against utility (the paper's evaluation; also the default of its simulator, Sabre).
const GAMMA_P: f64 = 5.0;

#[derive(Clone, Debug)]
pub struct Bola {
    v: f64,
}

about! { Bola:
    name: "bola",
    title: "BOLA, by Lyapunov optimisation of utility",
    class: "buffer",
    year: 2016,
    source: "Spiteri, Urgaonkar and Sitaraman, \"BOLA: Near-Optimal Bitrate Adaptation for Online Videos\", INFOCOM 2016",
    deviations: "BOLA-BASIC: V is constant, and throughput limits no rate. Sizes are those of the nominal bit rates.",
}

impl Bola {
    /// The rule with a control parameter V, in segments.
    pub fn new(v: f64) -> Bola {
        Bola { v }
    }

    /// The rule whose V lets it request segments until the buffer is full: V = (Qmax - 1) / (υ of the highest rate + γp).
    pub fn for_buffer(ladder: &Ladder, capacity: Duration) -> Bola {
        let segments = capacity.0 as f64 / ladder.segment().0 as f64;
        Bola::new((segments - 1.0).max(0.0) / (utility(ladder, ladder.top()) + GAMMA_P))
    }

    /// (V (υ + γp) - Q) / S of a rung, with S in units of the lowest rung's.
    pub fn objective(&self, ladder: &Ladder, rung: usize, buffered: Duration) -> f64 {
        let queue = buffered.0 as f64 / ladder.segment().0 as f64;
        let size = ladder.rate(rung).0 as f64 / ladder.rate(0).0 as f64;
        (self.v * (utility(ladder, rung) + GAMMA_P) - queue) / size
    }

    /// The rung of the next segment: that of the greatest objective, the lowest of several.
    pub fn choose(&self, view: &View) -> usize {
        let objective = |rung| self.objective(view.ladder, rung, view.buffered);
        (1..=view.ladder.top()).fold(0, |best, rung| if objective(rung) > objective(best) { rung } else { best })
    }
}

/// υ: the logarithm of a segment's size over that of the lowest rate's.
pub fn utility(ladder: &Ladder, rung: usize) -> f64 {
    libm::log(ladder.rate(rung).0 as f64 / ladder.rate(0).0 as f64)
}
