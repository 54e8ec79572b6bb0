//! One in so many, by counting instead of drawing.

/// See the module.
#[derive(Clone, Debug)]
pub struct Periodic {
    share: f64,
    counted: u64,
}

impl Periodic {
    /// Chooses this share.
    pub fn new(share: f64) -> Periodic {
        Periodic { share, counted: 0 }
    }

    /// Whether the next is chosen: the third, sixth and so on of a share of 1/3.
    pub fn chooses(&mut self) -> bool {
        let chosen = |counted: u64| (counted as f64 * self.share).floor();
        self.counted += 1;
        chosen(self.counted) > chosen(self.counted - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The given share of packets is chosen, evenly spaced.
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
