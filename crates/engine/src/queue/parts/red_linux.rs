//! RED as Linux computes it: include/net/red.h. The queue is in bytes, or in packets for CHOKe; probabilities are integers, and an
//! interval between drops is drawn once, where Floyd and Jacobson draw for each packet.
//!
//! The average does not change while the queue is empty. Linux lets it decay from the moment at which RED is asked for a packet
//! and has none (net/sched/sch_red.c, red_dequeue), which does not happen below `htb`: a class whose queue runs empty is no longer
//! asked (net/sched/sch_htb.c, htb_dequeue_tree, htb_deactivate).

/// Probabilities are in 2^-32.
const PROBABILITY_BITS: f64 = 4_294_967_296.0;
/// The greatest logarithm of the weight: red_check_params.
const GREATEST_LOGARITHM: f64 = 31.0;

state! {
    /// The state and the settings of a queue, with thresholds in its unit (red_set_parms).
    pub LinuxRed(weight: f64, least: f64, most: f64, maximum_probability: f64) {
        /// The logarithm of one over the weight (Wlog), which scales averages and thresholds.
        scale: u32 = (-libm::log2(weight)).round().clamp(1.0, GREATEST_LOGARITHM) as u32,
        /// The maximum probability over the distance of the thresholds.
        slope: u64 = ((maximum_probability * PROBABILITY_BITS) as u64 / ((most - least) as u64).max(1)).max(1),
        least: u64 = (least as u64) << scale,
        most: u64 = (most as u64) << scale,
        /// The average queue, scaled (qavg).
        average: u64,
        /// Packets since the latest drop (qcount).
        count: i64 = -1,
        /// The product of the average above the minimum and the count, at which the next drop comes (qR).
        due: u64,
    }
}

/// Why RED selects a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selected {
    /// The average is between the thresholds, and a drop is due.
    Early,
    /// The average is at the maximum threshold or above.
    Forced,
}

impl LinuxRed {
    /// The average queue, in its unit.
    pub fn average(&self) -> f64 {
        self.average as f64 / (1_u64 << self.scale) as f64
    }

    /// The same, but with forced drops above the maximum threshold, and not from there on, as CHOKe has them (choke_enqueue).
    pub fn forced_above_most(self) -> LinuxRed {
        LinuxRed { most: self.most + 1, ..self }
    }

    /// An arrival finds so much queued (red_calc_qavg_no_idle_time).
    pub fn on_arrival(&mut self, backlog: u64) {
        self.average = self.average + backlog - (self.average >> self.scale);
    }

    /// Whether the average is above the minimum threshold. If not, the count of packets since the latest drop begins anew.
    pub fn is_above_least(&mut self) -> bool {
        let is_above = self.average > self.least;
        if !is_above {
            self.count = -1;
        }
        is_above
    }

    /// Whether the arrival is dropped or marked (red_action). `draw` gives 32 random bits.
    pub fn selects(&mut self, draw: impl FnOnce() -> u32) -> Option<Selected> {
        if self.average < self.least {
            self.count = -1;
            return None;
        }
        if self.average >= self.most {
            self.count = -1;
            return Some(Selected::Forced);
        }
        self.count += 1;
        let is_due = self.count > 0 && ((self.average - self.least) >> self.scale) * self.count as u64 >= self.due;
        if is_due {
            self.count = 0;
        }
        if self.count == 0 {
            self.due = u64::from(draw()) / self.slope;
        }
        is_due.then_some(Selected::Early)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 190 arrivals on Linux 6.1.192 with thresholds of 30,000 and 90,000 bytes, a weight of 1/32 and a maximum probability of
    /// 0.1: ten flows at 50 Mbit/s below `htb`. Of each, the bytes that it found, qavg, qcount and qR after it, and red_action.
    const TRACE: &str = include_str!("../../../tests/data/red-linux.csv");

    /// The averages and the decisions are the kernel's, packet by packet, through idle times, early and forced drops.
    #[test]
    fn kernel_trace() {
        let mut red = LinuxRed::new(1.0 / 32.0, 30_000.0, 90_000.0, 0.1);
        let (mut early, mut forced) = (0, 0);
        for (number, line) in TRACE.lines().skip(1).enumerate() {
            let values: Vec<i64> = line.split(',').map(|value| value.parse().expect("a number")).collect();
            let [backlog, average, count, due, action] = values[..] else { panic!("five columns") };
            if number == 0 {
                (red.average, red.count, red.due) = (average as u64, count, due as u64);
                continue;
            }
            red.on_arrival(backlog as u64);
            let selected = red.selects(|| (due as u64 * red_slope()) as u32);
            assert_eq!((red.average, red.count, red.due), (average as u64, count, due as u64), "line {}", number + 2);
            assert_eq!(selected, [None, Some(Selected::Early), Some(Selected::Forced)][action as usize]);
            early += u32::from(action == 1);
            forced += u32::from(action == 2);
        }
        assert!(early > 0 && forced > 0, "{early} early, {forced} forced");
    }

    /// max_P is 429,496,729, and the thresholds are 60,000 bytes apart.
    fn red_slope() -> u64 {
        429_496_729 / 60_000
    }
}
