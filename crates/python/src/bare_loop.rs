//! A yardstick for machines: the events of a dumbbell without anything that makes them worth simulating.
//!
//! Flows with a fixed window over the study's dumbbell: three hosts a side, store and forward at each of three links a
//! way, an acknowledgement for every second packet, and so 4.5 events a delivered packet. No TCP, no queue discipline, no
//! statistics; the events wait in the standard library's binary heap. What a machine gives here is what it gives to an
//! event loop, whatever Sojourn does, so figures of different machines and minutes can be compared as shares of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pyo3::prelude::*;

/// Hosts on each side.
const HOSTS: usize = 3;

/// Links in one direction of a path; an acknowledgement's follow a data packet's in a flow's list of links.
const LINKS_ONE_WAY: usize = 3;

/// 1500 and 52 bytes at 1 Gbit/s, in picoseconds.
const TRANSMISSION: [u64; 2] = [12_000_000, 416_000];

/// Delays of the hosts' links on either side, in picoseconds; the links between the routers have none.
const DELAYS: [u64; HOSTS] = [10_000_000, 55_000_000, 100_000_000];

#[derive(Clone)]
struct Link {
    busy_until: u64,
    delay: u64,
}

/// What the heap holds: time, sequence number, flow and link number on the flow's path, in one number.
struct Pending {
    heap: BinaryHeap<Reverse<u128>>,
    drawn: u64,
}

impl Pending {
    fn push(&mut self, time: u64, flow: usize, place: usize) {
        self.drawn += 1;
        let rank = self.drawn << 24 | (flow as u64) << 8 | place as u64;
        self.heap.push(Reverse(u128::from(time) << 64 | u128::from(rank)));
    }

    fn pop(&mut self) -> Option<(u64, usize, usize)> {
        let Reverse(key) = self.heap.pop()?;
        let rank = key as u64;
        Some(((key >> 64) as u64, (rank >> 8 & 0xffff) as usize, (rank & 0xff) as usize))
    }
}

/// Runs the flows, each with `window` packets in flight, until `packets` are delivered in all. Returns how many events that
/// took.
///
/// Raises OverflowError for more flows than 65,535.
#[pyfunction]
pub fn bare_loop(py: Python<'_>, flows: u16, window: u32, packets: u64) -> u64 {
    py.detach(|| run(usize::from(flows), window, packets))
}

fn run(flows: usize, window: u32, packets: u64) -> u64 {
    // The routers' two links, then for each host one from it and one to it: first the senders', then the receivers'.
    let mut links = vec![Link { busy_until: 0, delay: 0 }; 2];
    for delay in DELAYS.into_iter().chain(DELAYS) {
        links.extend(vec![Link { busy_until: 0, delay }; 2]);
    }
    let paths: Vec<[usize; 2 * LINKS_ONE_WAY]> = (0..flows)
        .map(|flow| {
            let (sender, receiver) = (2 + 2 * (flow % HOSTS), 2 + 2 * (HOSTS + flow / HOSTS % HOSTS));
            [sender, 0, receiver + 1, receiver, 1, sender + 1]
        })
        .collect();
    let mut pending = Pending { heap: BinaryHeap::new(), drawn: 0 };
    let mut send = |pending: &mut Pending, now: u64, flow: usize, place: usize| {
        let link = &mut links[paths[flow][place]];
        link.busy_until = link.busy_until.max(now) + TRANSMISSION[place / LINKS_ONE_WAY];
        pending.push(link.busy_until + link.delay, flow, place + 1);
    };
    for flow in 0..flows {
        for _ in 0..window {
            send(&mut pending, 0, flow, 0);
        }
    }
    let mut received = vec![0u64; flows];
    let (mut events, mut delivered) = (0, 0);
    while delivered < packets
        && let Some((now, flow, place)) = pending.pop()
    {
        events += 1;
        if place == LINKS_ONE_WAY {
            delivered += 1;
            received[flow] += 1;
            if received[flow].is_multiple_of(2) {
                send(&mut pending, now, flow, place);
            }
        } else if place == 2 * LINKS_ONE_WAY {
            send(&mut pending, now, flow, 0);
            send(&mut pending, now, flow, 0);
        } else {
            send(&mut pending, now, flow, place);
        }
    }
    events
}
