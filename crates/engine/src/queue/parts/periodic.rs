//! Selects a share of events, evenly spaced by counting instead of at random.

/// Selects a share of events, evenly spaced.
#[derive(Clone, Debug)]
pub struct Periodic {
    share: f64,
    counted: u64,
}

impl Periodic {
    pub fn new(share: f64) -> Periodic {
        Periodic { share, counted: 0 }
    }

    /// Whether the next event is selected. With a share of 1/3, these are the third, the sixth and so on.
    pub fn chooses(&mut self) -> bool {
        let chosen = |counted: u64| (counted as f64 * self.share).floor();
        self.counted += 1;
        chosen(self.counted) > chosen(self.counted - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The given share of packets is selected, evenly spaced.
    #[test]
    fn evenly_spaced_choices() {
        let chosen = |share, count: u64| {
            let mut periodic = Periodic::new(share);
            (1..=count).filter(|_| periodic.chooses()).collect::<Vec<u64>>()
        };
        assert_eq!(chosen(1.0 / 3.0, 10), [3, 6, 9]);
        assert_eq!(chosen(0.1, 30), [10, 20, 30]);
        assert_eq!(chosen(0.4, 10), [3, 5, 8, 10]);
        assert_eq!(chosen(1.0, 3), [1, 2, 3]);
        assert!(chosen(0.0, 100).is_empty());
    }
}
