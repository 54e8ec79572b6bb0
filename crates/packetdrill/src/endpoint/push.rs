//! The PSH flag, which the engine's segments lack: Linux sets it at the end of a write, in segments that the card cuts into several, and
//! where a buffer ends once half of the receiver's window has been written.

use std::collections::BTreeSet;

use sojourn_engine::packet::{Packet, flags};
use sojourn_engine::tcp::scoreboard::FIRST_DATA;
use sojourn_engine::tcp::sender::Repair;

use super::Stream;
use crate::host::Host;

/// The largest segment that a card cuts: Linux include/linux/netdevice.h, GSO_LEGACY_MAX_SIZE, less MAX_TCP_HEADER.
const LARGEST: u64 = 65_536 - 320;

/// Where writes and buffers end, and how many segments leave as one.
pub struct Pusher {
    least: u64,
    /// Bytes written up to each PSH.
    ends: BTreeSet<u64>,
    /// The sequence numbers with which buffers begin that have left.
    buffers: BTreeSet<u64>,
    /// The greatest sequence number that was sent.
    next: u64,
    /// The largest window that the other end has offered.
    window: u64,
    /// Bytes written when PSH was last set.
    pushed: u64,
    /// Bytes written before the latest buffer.
    buffer: u64,
}

/// A write, by the bytes written before and with it.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    pub before: u64,
    pub all: u64,
    /// Whether PSH is set at its end.
    pub is_pushed: bool,
}

impl Pusher {
    pub fn new(host: &Host) -> Pusher {
        Pusher {
            least: host.number("min_tso_segs").unwrap_or(2),
            ends: BTreeSet::new(),
            buffers: BTreeSet::new(),
            next: FIRST_DATA,
            window: 0,
            pushed: 0,
            buffer: 0,
        }
    }

    /// The other end offers a window.
    pub fn on_window(&mut self, window: u64) {
        self.window = self.window.max(window);
    }

    /// The sequence number that this end sends next.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The application writes, and segments up to `sendable` may leave. The bytes go to buffers, of which those that are full leave while
    /// the rest is written, one segment or all that may (Linux tcp.c, tcp_sendmsg_locked, forced_push).
    pub fn on_write(&mut self, write: Written, sendable: u64, stream: &Stream) {
        let mss = stream.profile.segment_size.0;
        let size = (LARGEST.min(self.window / 2) / mss).max(1) * mss;
        let at_once = self.segments_at_once(stream) * mss;
        let mut sent = self.next - FIRST_DATA;
        let mut written = write.before;
        while written < write.all {
            self.buffer = self.buffer.max(sent);
            if written - self.buffer >= size {
                self.buffer = written;
            }
            // What is added to a buffer takes its PSH along, unless another write has set it.
            let had_push = written > self.buffer && self.ends.remove(&written);
            let is_ours = written > write.before;
            written = write.all.min(self.buffer + size);
            if had_push && is_ours {
                self.ends.insert(written);
            }
            if written - self.buffer < size {
                break;
            }
            if written > self.pushed + self.window / 2 {
                self.pushed = written;
                self.ends.insert(written);
                sent = sent.max(written.min(sendable));
            } else if self.buffer == sent {
                sent = sent.max((sent + at_once).min(sendable));
            }
        }
        if write.is_pushed {
            self.pushed = write.all;
            self.ends.insert(write.all);
        }
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
            let is_new = first >= self.next;
            // What was one buffer is sent again as one.
            let may_join = if is_new { count < most } else { !self.buffers.contains(&first) };
            let follows = before == Some((place.wrapping_sub(1), first)) && may_join;
            if is_new && !follows {
                self.buffers.insert(first);
            }
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
