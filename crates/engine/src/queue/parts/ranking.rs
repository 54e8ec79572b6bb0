//! Packets ranked by a tag, of which the least and the greatest are at hand: a min-max heap (Atkinson, Sack, Santoro and
//! Strothotte, "Min-max heaps and generalized priority queues", CACM 29 (1986)). Packets of the same tag keep their order.

use super::Queued;

/// A packet and its rank: tag, and place among all that ever came.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    rank: (u64, u64),
    /// The packet.
    pub queued: Queued,
}

impl Ranked {
    /// Its tag.
    pub fn tag(&self) -> u64 {
        self.rank.0
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// On even levels each is the least of those below it, on odd ones the greatest.
    heap: Vec<Ranked>,
    came: u64,
    bytes: u64,
}

impl Ranking {
    /// Adds a packet.
    pub fn push(&mut self, tag: u64, queued: Queued) {
        self.heap.push(Ranked { rank: (tag, self.came), queued });
        self.came += 1;
        self.bytes += u64::from(queued.packet.size);
        self.rise(self.heap.len() - 1);
    }

    /// The greatest.
    pub fn greatest(&self) -> Option<&Ranked> {
        self.heap.get(self.place_of_greatest())
    }

    /// Takes the least.
    pub fn pop_least(&mut self) -> Option<Ranked> {
        self.take(0)
    }

    /// Takes the greatest.
    pub fn pop_greatest(&mut self) -> Option<Ranked> {
        self.take(self.place_of_greatest())
    }

    /// How many.
    pub fn packets(&self) -> u64 {
        self.heap.len() as u64
    }

    /// Bytes of all.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn place_of_greatest(&self) -> usize {
        match self.heap.len() {
            0 | 1 => 0,
            2 => 1,
            _ if self.heap[1].rank > self.heap[2].rank => 1,
            _ => 2,
        }
    }

    fn take(&mut self, place: usize) -> Option<Ranked> {
        if place >= self.heap.len() {
            return None;
        }
        let taken = self.heap.swap_remove(place);
        self.sink(place);
        self.bytes -= u64::from(taken.queued.packet.size);
        Some(taken)
    }

    /// Whether the first place belongs above the second, on a level of this kind.
    fn precedes(&self, first: usize, second: usize, least_first: bool) -> bool {
        let (first, second) = (self.heap[first].rank, self.heap[second].rank);
        if least_first { first < second } else { first > second }
    }

    /// Moves a packet up to where it belongs.
    fn rise(&mut self, mut place: usize) {
        let mut least_first = is_on_even_level(place);
        if place > 0 && self.precedes(parent(place), place, least_first) {
            self.heap.swap(place, parent(place));
            place = parent(place);
            least_first = !least_first;
        }
        // Above the third place there are no two levels.
        while place > 2 && self.precedes(place, parent(parent(place)), least_first) {
            self.heap.swap(place, parent(parent(place)));
            place = parent(parent(place));
        }
    }

    /// Moves a packet down to where it belongs.
    fn sink(&mut self, mut place: usize) {
        let least_first = is_on_even_level(place);
        while let Some(first) = self.first_below(place, least_first) {
            if !self.precedes(first, place, least_first) {
                return;
            }
            self.heap.swap(first, place);
            if parent(first) == place {
                return;
            }
            if self.precedes(parent(first), first, least_first) {
                self.heap.swap(first, parent(first));
            }
            place = first;
        }
    }

    /// Of the two levels below a place, the one that belongs above the others.
    fn first_below(&self, place: usize, least_first: bool) -> Option<usize> {
        let (children, grandchildren) = (2 * place + 1, 4 * place + 3);
        let below = (children..children + 2).chain(grandchildren..grandchildren + 4);
        below
            .take_while(|below| *below < self.heap.len())
            .reduce(|first, other| if self.precedes(other, first, least_first) { other } else { first })
    }
}

fn parent(place: usize) -> usize {
    (place - 1) / 2
}

fn is_on_even_level(place: usize) -> bool {
    (place + 1).ilog2().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{OptionsHandle, Packet, flags};
    use crate::time::Time;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Push(u64, u16),
        PopLeast,
        PopGreatest,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0u64..50, 40u16..1500).prop_map(|(tag, size)| Step::Push(tag, size)),
            1 => Just(Step::PopLeast),
            1 => Just(Step::PopGreatest),
        ]
    }

    proptest! {
        /// Whatever comes and goes, least and greatest are those of a sorted list.
        #[test]
        fn is_a_sorted_list(steps in prop::collection::vec(step(), 0..400)) {
            let mut ranking = Ranking::default();
            let mut list: Vec<(u64, u64, u16)> = Vec::new();
            for (number, step) in steps.into_iter().enumerate() {
                let popped = match step {
                    Step::Push(tag, size) => {
                        let packet = Packet {
                            number: number as u64,
                            stamp: Time::ZERO,
                            flow: 0,
                            hop: 0,
                            options: OptionsHandle::NONE,
                            size,
                            flags: flags::DATA,
                        };
                        ranking.push(tag, Queued { packet, since: Time::ZERO });
                        list.push((tag, number as u64, size));
                        list.sort_unstable();
                        continue;
                    }
                    Step::PopLeast => (ranking.pop_least(), if list.is_empty() { None } else { Some(list.remove(0)) }),
                    Step::PopGreatest => (ranking.pop_greatest(), list.pop()),
                };
                let taken = popped.0.map(|ranked| (ranked.tag(), ranked.queued.packet.number, ranked.queued.packet.size));
                prop_assert_eq!(taken, popped.1);
                prop_assert_eq!(ranking.greatest().map(Ranked::tag), list.last().map(|last| last.0));
                prop_assert_eq!(ranking.packets(), list.len() as u64);
                prop_assert_eq!(ranking.bytes(), list.iter().map(|(.., size)| u64::from(*size)).sum::<u64>());
            }
        }
    }
}
