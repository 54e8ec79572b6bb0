//! The longest of many queues, at hand at any time: a heap that knows where each queue stands in it, so that a queue
//! that grows or shrinks moves by a few places. Nothing is scanned.

/// Not in the heap.
const OUT: u32 = u32::MAX;

/// The queues that hold something, the longest on top.
#[derive(Clone, Debug)]
pub struct Longest {
    /// Length and queue.
    heap: Vec<(u64, u32)>,
    /// By queue: its place in the heap.
    places: Box<[u32]>,
}

impl Longest {
    /// So many queues, all empty.
    pub fn new(queues: usize) -> Longest {
        Longest { heap: Vec::with_capacity(queues), places: vec![OUT; queues].into() }
    }

    /// The longest queue; none if all are empty.
    pub fn queue(&self) -> Option<usize> {
        self.heap.first().map(|(_, queue)| *queue as usize)
    }

    /// A queue is so long now.
    pub fn set(&mut self, queue: usize, length: u64) {
        let place = self.places[queue];
        if place == OUT {
            if length > 0 {
                self.heap.push((length, queue as u32));
                self.rise(self.heap.len() - 1);
            }
            return;
        }
        let place = place as usize;
        if length > 0 {
            let before = std::mem::replace(&mut self.heap[place].0, length);
            if length > before {
                self.rise(place)
            } else {
                self.sink(place)
            }
            return;
        }
        self.places[queue] = OUT;
        let (removed, _) = self.heap.swap_remove(place);
        if let Some((moved, _)) = self.heap.get(place) {
            if *moved > removed { self.rise(place) } else { self.sink(place) }
        }
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let above = (place - 1) / 2;
            if self.heap[above].0 >= entry.0 {
                break;
            }
            self.put(place, self.heap[above]);
            place = above;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let length = |place: usize| self.heap.get(place).map_or(0, |(length, _)| *length);
            let below = if length(right) > length(left) { right } else { left };
            if length(below) <= entry.0 {
                break;
            }
            self.put(place, self.heap[below]);
            place = below;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: (u64, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever grows and shrinks, the queue on top is as long as the longest that a scan finds.
        #[test]
        fn is_what_a_scan_finds(steps in prop::collection::vec((0usize..20, 0u64..10), 0..300)) {
            let mut longest = Longest::new(20);
            let mut lengths = [0; 20];
            for (queue, length) in steps {
                lengths[queue] = length;
                longest.set(queue, length);
                let greatest = lengths.iter().max().copied().filter(|greatest| *greatest > 0);
                prop_assert_eq!(longest.queue().map(|queue| lengths[queue]), greatest);
            }
        }
    }
}
