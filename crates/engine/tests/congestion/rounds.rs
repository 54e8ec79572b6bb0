//! A sender with rounds controlled by the test: a few acknowledgements each, with the given round-trip time.

use serde_json::Value;
use sojourn_engine::tcp::congestion::{Ack, Algorithm, CongestionControl};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::Duration;

pub struct Rounds {
    pub algorithm: Algorithm,
    pub window: Window,
    una: u64,
    /// The next sequence number.
    nxt: u64,
}

impl Rounds {
    /// Creates the sender. The first acknowledgement starts a round and gives the base RTT.
    pub fn new(name: &str, parameters: &Value, window: Window, base_rtt: Duration) -> Rounds {
        let algorithm = Algorithm::new(name, parameters).expect("a known algorithm");
        let mut rounds = Rounds { algorithm, window, una: 0, nxt: window.cwnd };
        rounds.acknowledge(1, 0, base_rtt);
        rounds
    }

    /// The window of a vector, in congestion avoidance or slow start according to ssthresh.
    pub fn of_vector(name: &str, vector: &Value, parameters: &Value) -> Rounds {
        let inputs = &vector["inputs"];
        let integer = |name: &str| inputs[name].as_u64().unwrap_or_else(|| panic!("{name} of {vector}"));
        let mss = integer("mss");
        let window = Window {
            cwnd: integer("cwnd_segments") * mss,
            ssthresh: inputs["ssthresh_segments"].as_u64().unwrap_or(0) * mss,
            mss,
        };
        Rounds::new(name, parameters, window, Duration::from_milliseconds(integer("base_rtt_ms")))
    }

    /// Processes an acknowledgement. Standard slow start handles growth that the algorithm leaves to it.
    pub fn acknowledge(&mut self, acked: u64, credit: u64, rtt: Duration) {
        self.una += acked;
        let (una, nxt) = (self.una, self.nxt);
        let mut ack = Ack { acked, credit, rtt: Some(rtt), srtt: rtt, una, nxt, ..Ack::default() };
        self.algorithm.on_ack(&self.window, &ack);
        if self.window.in_slow_start() {
            ack.credit = self.algorithm.increase_in_slow_start(&mut self.window, &ack).unwrap_or_else(|| {
                let growth = credit.min(self.window.ssthresh - self.window.cwnd);
                self.window.cwnd += growth;
                credit - growth
            });
        }
        if !self.window.in_slow_start() {
            self.algorithm.increase(&mut self.window, &ack);
        }
    }

    /// Processes acknowledgements without credit that give the round all but one of its samples.
    pub fn measure(&mut self, samples: u64, rtt: Duration) {
        (1..samples).for_each(|_| self.acknowledge(1, 0, rtt));
    }

    /// Processes a whole round. The acknowledgement that ends it is credited with one segment.
    pub fn round(&mut self, samples: u64, rtt: Duration) {
        let end = self.nxt + 1;
        self.measure(samples, rtt);
        self.nxt = end + self.window.cwnd;
        self.acknowledge(end - self.una, self.window.mss, rtt);
    }
}
