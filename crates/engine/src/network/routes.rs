//! Static shortest-path routes over any graph of nodes and links.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use crate::specification::LinkSpecification;
use crate::time::Duration;

/// The index in place of a link's at the end of a path.
pub const END_OF_PATH: u32 = u32::MAX;

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The link, or [`END_OF_PATH`].
    pub link: u32,
    /// Whether the link's queue is unlimited and all its packets come from one and the same other link. They come in
    /// the order in which that link sends them, so their passage is computed when they are sent there.
    pub follows_one_link: bool,
}

/// The paths that flows use: one table of hops, each path a stretch of it with an end.
#[derive(Debug, Default)]
pub struct Routes {
    hops: Vec<Hop>,
    first_hops: HashMap<(usize, usize), u32>,
}

/// The size of the packet for which paths are shortest.
const REFERENCE_PACKET: u64 = 1500;

impl Routes {
    /// The hop at a place in the table.
    pub fn hop(&self, place: u32) -> Hop {
        self.hops[place as usize]
    }

    /// Where the path between two nodes begins; finds it first if need be. None if there is none.
    pub fn path(&mut self, from: usize, to: usize, nodes: usize, links: &[LinkSpecification]) -> Option<u32> {
        if let Some(first) = self.first_hops.get(&(from, to)) {
            return Some(*first);
        }
        let path = shortest_path(from, to, nodes, links)?;
        let first = self.hops.len() as u32;
        let links = path.into_iter().chain([END_OF_PATH]);
        self.hops.extend(links.map(|link| Hop { link, follows_one_link: false }));
        self.first_hops.insert((from, to), first);
        Some(first)
    }

    /// The links of the path that begins there.
    pub fn links_from(&self, first: u32) -> impl Iterator<Item = usize> {
        let rest = self.hops[first as usize..].iter();
        rest.map(|hop| hop.link).take_while(|link| *link != END_OF_PATH).map(|link| link as usize)
    }

    /// Every path, its end left out.
    pub fn paths(&self) -> impl Iterator<Item = &[Hop]> {
        self.hops.split(|hop| hop.link == END_OF_PATH).filter(|path| !path.is_empty())
    }

    /// Finds, once all paths are known, the links that follow one link. `may_follow` excludes links with a queue and links behind one
    /// that reorders packets.
    pub fn find_followers(&mut self, may_follow: impl Fn(u32, u32) -> bool) {
        #[derive(Clone, Copy, PartialEq)]
        enum Feeder {
            One(u32),
            Several,
        }
        let mut feeders = HashMap::new();
        for path in self.paths() {
            feeders.insert(path[0].link, Feeder::Several); // Fed by a host.
            for step in path.windows(2) {
                let feeder = Feeder::One(step[0].link);
                feeders
                    .entry(step[1].link)
                    .and_modify(|known| {
                        if *known != feeder {
                            *known = Feeder::Several
                        }
                    })
                    .or_insert(feeder);
            }
        }
        for hop in &mut self.hops {
            let feeder = feeders.get(&hop.link);
            hop.follows_one_link = matches!(feeder, Some(Feeder::One(feeder)) if may_follow(hop.link, *feeder));
        }
    }

    /// The one link that this one follows, if it does.
    pub fn feeder(&self, link: u32) -> Option<u32> {
        let mut steps = self.hops.windows(2);
        steps.find(|step| step[1].link == link && step[1].follows_one_link).map(|step| step[0].link)
    }

    /// Links at whose end packets arrive: all that a path ends with or that lead to a link that does not follow.
    pub fn links_with_arrivals(&self) -> BTreeSet<u32> {
        let pairs = self.hops.windows(2).filter(|pair| pair[0].link != END_OF_PATH && !pair[1].follows_one_link);
        pairs.map(|pair| pair[0].link).collect()
    }
}

/// Dijkstra's algorithm. A link costs its delay and the transmission of a full packet, then a hop; among equals the
/// node named first goes first, and of its links the one named first, so that routes depend on the scenario alone.
fn shortest_path(from: usize, to: usize, nodes: usize, links: &[LinkSpecification]) -> Option<Vec<u32>> {
    let mut leaving: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (index, link) in links.iter().enumerate() {
        leaving[link.from].push(index as u32);
    }
    let mut best: Vec<Option<(Duration, u32)>> = vec![None; nodes];
    let mut arrived_by: Vec<Option<u32>> = vec![None; nodes];
    let mut open = BinaryHeap::new();
    best[from] = Some((Duration::ZERO, 0));
    open.push(Reverse((Duration::ZERO, 0u32, from)));
    while let Some(Reverse((cost, hops, node))) = open.pop() {
        if best[node].is_some_and(|known| known < (cost, hops)) {
            continue;
        }
        for index in &leaving[node] {
            let link = &links[*index as usize];
            let reached = (cost + link.delay + link.rate.transmission_time(REFERENCE_PACKET), hops + 1);
            if best[link.to].is_none_or(|known| reached < known) {
                best[link.to] = Some(reached);
                arrived_by[link.to] = Some(*index);
                open.push(Reverse((reached.0, reached.1, link.to)));
            }
        }
    }
    best[to]?;
    let mut path = Vec::new();
    let mut node = to;
    while node != from {
        let index = arrived_by[node]?;
        path.push(index);
        node = links[index as usize].from;
    }
    path.reverse();
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::Framing;
    use crate::specification::Impairments;
    use crate::units::Rate;

    fn link(from: usize, to: usize, delay_us: u64) -> LinkSpecification {
        LinkSpecification {
            from,
            to,
            rate: Rate(1_000_000_000),
            delay: Duration::from_microseconds(delay_us),
            queue: None,
            device_queue: 0,
            drop: None,
            loss: 0.0,
            changes: Vec::new(),
            impairments: Impairments::default(),
            rate_trace: None,
            delay_trace: None,
            aggregation: None,
            framing: Framing::default(),
            delay_range: None,
        }
    }

    fn path(from: usize, to: usize, links: &[LinkSpecification]) -> Option<Vec<u32>> {
        let mut routes = Routes::default();
        routes.path(from, to, 5, links)?;
        routes.paths().next().map(|path| path.iter().map(|hop| hop.link).collect())
    }

    /// The path with the least total delay is chosen, even if it has more hops. Between equal links the first named is
    /// chosen.
    #[test]
    fn least_delay_path() {
        let links = [link(0, 3, 100), link(0, 1, 10), link(1, 3, 10), link(1, 3, 10), link(3, 4, 1)];
        assert_eq!(path(0, 4, &links), Some(vec![1, 2, 4]));
        assert_eq!(path(0, 3, &links[..2]), Some(vec![0]));
    }

    /// A link connects its nodes in one direction only. A node without links has no path.
    #[test]
    fn links_are_unidirectional() {
        let links = [link(0, 1, 10)];
        assert_eq!(path(0, 1, &links), Some(vec![0]));
        assert_eq!(path(1, 0, &links), None);
        assert_eq!(path(0, 2, &links), None);
    }
}
