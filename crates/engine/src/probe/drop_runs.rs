//! Drops in a row at a queue.

/// Runs of drops: drops of arriving packets between which the queue accepts none, and drops of queued packets between which
/// it sends none. In a FIFO these are packets that arrived one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct DropRuns {
    /// How many there were.
    pub runs: u64,
    /// Packets of the longest.
    pub longest: u64,
    length: u64,
    refused: u64,
    /// Packets that had been accepted, and sent, at the latest drop.
    at_latest: (u64, u64),
}

impl DropRuns {
    /// A packet is dropped: an arriving one or a queued one. So many packets have arrived, this one included, and left.
    pub fn on_drop(&mut self, is_arriving: bool, arrivals: u64, departures: u64) {
        self.refused += u64::from(is_arriving);
        let accepted = arrivals.saturating_sub(self.refused);
        let goes_on = if is_arriving { accepted == self.at_latest.0 } else { departures == self.at_latest.1 };
        if goes_on && self.length > 0 {
            self.length += 1;
        } else {
            self.runs += 1;
            self.length = 1;
        }
        self.longest = self.longest.max(self.length);
        self.at_latest = (accepted, departures);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrivals that are refused one after the other are a run, whatever leaves meanwhile; one that is accepted ends it.
    #[test]
    fn refused_arrivals() {
        let mut runs = DropRuns::default();
        for (arrivals, departures) in [(1, 0), (2, 0), (3, 5), (5, 5), (7, 6), (8, 6)] {
            runs.on_drop(true, arrivals, departures);
        }
        assert_eq!((runs.runs, runs.longest), (3, 3), "{runs:?}");
    }

    /// Queued packets that are dropped one after the other are a run, whatever arrives meanwhile; one that leaves ends it.
    #[test]
    fn dropped_from_queue() {
        let mut runs = DropRuns::default();
        for (arrivals, departures) in [(10, 0), (11, 0), (12, 1), (12, 1), (13, 1), (13, 2)] {
            runs.on_drop(false, arrivals, departures);
        }
        assert_eq!((runs.runs, runs.longest), (3, 3), "{runs:?}");
    }
}
