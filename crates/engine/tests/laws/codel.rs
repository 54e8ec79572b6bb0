//! Claims of the authors of CoDel's variants, over a whole path.

use std::sync::atomic::AtomicBool;

use crate::support::{MS, Path, S, tcp_flows};
use serde_json::{Value, json};
use sojourn_engine::probe::QueueStatistics;
use sojourn_engine::simulation::Simulation;

/// Two flows from one host and two of New Reno from another (Hanai et al. 2016, Fig. 4, with fewer flows).
struct Contest {
    hungriest: &'static str,
    rtt: u64,
}

impl Contest {
    /// Jain's fairness index of the four flows.
    fn fairness(&self, queue: &str, parameters: Value) -> f64 {
        let mut path = Path::new(100_000_000, self.rtt);
        path.edge_rate = 100_000_000;
        path.queue = json!({"name": queue, "limit": {"packets": 10_000}, "parameters": parameters});
        path.duration = 110 * S;
        path.flows = vec![tcp_flows(self.hungriest, 2, S), tcp_flows("newreno", 2, S)];
        path.flows[1]["from"] = json!(4);
        let mut specification = path.specification();
        specification.nodes.push("second sender".to_owned());
        for (from, to) in [(4, 1), (1, 4)] {
            let mut link = specification.links[0].clone();
            (link.from, link.to) = (from, to);
            specification.links.push(link);
        }
        let simulation = Simulation::new(&specification).expect("a valid specification");
        let result = simulation.run(&AtomicBool::new(false)).expect("nobody cancels");
        let shares: Vec<f64> = result.flows.iter().map(|flow| flow.bytes_delivered as f64).collect();
        let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|share| share * share).sum::<f64>());
        sum * sum / (4.0 * squares)
    }

    /// Fairness with CoDel, with CoDel that drops from the configured hungriest connections, and with CoDel that
    /// estimates them.
    fn outcomes(&self) -> [f64; 3] {
        [
            self.fairness("codel", json!({})),
            self.fairness("codel_static", json!({"hungriest": self.hungriest})),
            self.fairness("codel_dynamic", json!({})),
        ]
    }
}

/// Hanai et al. 2016, section V: against an aggressive congestion control it is fairer to prefer drops from the
/// hungriest flows, whether named or guessed.
#[test]
fn fairness_of_hungriest_drops() {
    for hungriest in ["scalable", "bic"] {
        let [codel, told, guessed] = Contest { hungriest, rtt: 64 * MS }.outcomes();
        assert!(told > codel + 0.03 && guessed > codel + 0.03, "{hungriest}: {codel}, told {told}, guessed {guessed}");
    }
}

/// Hanai et al. 2016, section V: at short round-trip times, where CUBIC hardly exceeds its share, naming it as the
/// hungriest reduces fairness, and guessing does not.
#[test]
fn guess_between_fair_flows() {
    let [codel, told, guessed] = Contest { hungriest: "cubic", rtt: 16 * MS }.outcomes();
    assert!(codel > 0.97 && told < codel && guessed >= codel, "{codel}, told {told}, guessed {guessed}");
}

/// Piotrowska 2021, Table 8 and Figure 7: with 900 flows over 100 Mbit/s CoDel's queue oscillates between full and its
/// target. With more drops for a longer mean queue it is shorter and steadier (section 5.2), and the link stays busy.
#[test]
fn heavy_load() {
    for algorithm in ["newreno", "cubic"] {
        let queue_under = |name: &str| {
            let mut path = Path::new(100_000_000, 100 * MS);
            path.queue = json!({"name": name, "limit": {"packets": 900}});
            path.duration = 50 * S;
            path.flows = vec![tcp_flows(algorithm, 900, 3 * S)];
            path.run().queues.remove(0).statistics
        };
        let (plain, adaptive) = (queue_under("codel"), queue_under("codel_adaptive"));
        let lengths = |of: &QueueStatistics| format!("{:.0} ({:.0})", of.mean_packets, of.sd_packets);
        let case = format!("{algorithm}: CoDel {}, adaptive {}", lengths(&plain), lengths(&adaptive));
        assert!(plain.max_packets == 900 && plain.sd_packets > 200.0, "{case}");
        assert!(adaptive.mean_packets < plain.mean_packets / 3.0, "{case}");
        assert!(adaptive.sd_packets < plain.sd_packets / 2.0, "{case}");
        assert!(adaptive.window.drops_overflow == 0 && adaptive.busy_share > 0.999, "{case}");
    }
}
