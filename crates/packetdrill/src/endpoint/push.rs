//! The PSH flag, which the engine's segments lack: Linux sets it at the end of a write and in segments that the card cuts into several.

use std::collections::BTreeSet;

use sojourn_engine::packet::{Packet, flags};
use sojourn_engine::tcp::scoreboard::FIRST_DATA;
use sojourn_engine::tcp::sender::Repair;

use super::Stream;
use crate::host::Host;

/// The largest segment that a card cuts: Linux include/linux/netdevice.h, GSO_LEGACY_MAX_SIZE, less MAX_TCP_HEADER.
const LARGEST: u64 = 65_536 - 320;

/// Where writes end, and how many segments leave as one.
pub struct Pusher {
    least: u64,
    /// Bytes written up to the end of each write.
    ends: BTreeSet<u64>,
    /// The greatest sequence number that was sent.
    next: u64,
}

impl Pusher {
    pub fn new(host: &Host) -> Pusher {
        Pusher { least: host.number("min_tso_segs").unwrap_or(2), ends: BTreeSet::new(), next: FIRST_DATA }
    }

    /// The sequence number that this end sends next.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// A write has ended, with so many bytes written in all.
    pub fn on_write(&mut self, written: u64) {
        self.ends.insert(written);
    }

    /// Of segments that leave together, which carry PSH. `is_cut_late` if the card cuts what leaves as one.
    pub fn pushes(&mut self, stream: &Stream, outbox: &[Packet], is_cut_late: bool) -> Vec<bool> {
        let overhead = stream.profile.segment_overhead();
        let most = self.segments_at_once(stream);
        let mut pushes = vec![false; outbox.len()];
        let (mut before, mut count) = (None, 0);
        for (place, packet) in outbox.iter().enumerate().filter(|(_, packet)| packet.has(flags::DATA)) {
            let payload = u64::from(packet.size) - overhead;
            let first = FIRST_DATA + stream.sender.payload_below(packet.number);
            let end = first + payload;
            // What Linux has sent once it keeps as it was, which may be in parts.
            let follows = before == Some((place.wrapping_sub(1), first)) && count < most && first >= self.next;
            count = if follows { count + 1 } else { 1 };
            if count > 1 {
                // Cut by the host, only the last part has it (Linux tcp_offload.c, tcp_gso_segment).
                pushes[place - 1] = is_cut_late || self.ends.contains(&(first - FIRST_DATA));
            }
            pushes[place] = count > 1 || self.ends.contains(&(end - FIRST_DATA));
            before = Some((place, end));
            self.next = self.next.max(end + u64::from(packet.has(flags::FIN)));
        }
        pushes
    }

    /// Linux tcp_output.c, tcp_tso_autosize.
    fn segments_at_once(&self, stream: &Stream) -> u64 {
        let info = stream.sender.info();
        let Some(srtt) = info.srtt else { return 1 };
        let is_slow_start =
            info.repair == Repair::None && info.ssthresh.is_none_or(|ssthresh| info.cwnd < ssthresh / 2);
        let rate = if is_slow_start { 2.0 } else { 1.2 } * info.cwnd as f64 / srtt;
        let mut bytes = (rate / 1024.0).min(LARGEST as f64) as u64;
        let halvings = info.min_rtt.map_or(0, |rtt| (rtt.0 / 1_000_000) >> 9);
        if halvings < 32 {
            bytes += LARGEST >> halvings;
        }
        // tcp_cwnd_test: half of the window at the most.
        (bytes.min(LARGEST) / info.mss).max(self.least).min((info.cwnd / info.mss / 2).max(1))
    }
}
