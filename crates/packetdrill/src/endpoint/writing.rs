//! What the application has written and the sender does not yet have: small segments that wait for others (RFC 9293 section 3.7.4, in
//! Minshall's variant, as Linux tcp_output.c, tcp_nagle_check has it), and records that share no segment with what follows them.

use std::collections::VecDeque;

use sojourn_engine::packet::flags;
use sojourn_engine::tcp::scoreboard::FIRST_DATA;
use sojourn_engine::time::Time;

use crate::host::Coalescing;

use super::push::Written;
use super::{Endpoint, State};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Write {
    pub bytes: u64,
    /// `MSG_MORE`: more will follow at once.
    pub more: bool,
    /// `MSG_EOR`: what follows begins a segment.
    pub ends_record: bool,
}

/// Bytes that wait, up to the end of a record if that is one.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    bytes: u64,
    is_pushed: bool,
    ends_record: bool,
}

/// What waits.
#[derive(Debug, Default)]
pub struct Writing {
    pieces: VecDeque<Piece>,
    /// Whether what the sender has ends a record.
    ends_record: bool,
    /// The end of the latest segment that was not full.
    small: u64,
    /// When what waits leaves at the latest: with nothing outstanding, the timer of window probes (Linux tcp_write_wakeup).
    deadline: Option<Time>,
}

impl Writing {
    /// When what waits leaves.
    pub fn deadline(&self) -> Time {
        self.deadline.unwrap_or(Time::NEVER)
    }

    /// A segment up to `end` leaves.
    pub fn on_sent(&mut self, end: u64, is_full: bool) {
        if !is_full {
            self.small = self.small.max(end);
        }
    }

    pub fn waiting(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }

    fn add(&mut self, write: Write) {
        match self.pieces.back_mut().filter(|last| !last.ends_record) {
            Some(last) => {
                last.bytes += write.bytes;
                last.is_pushed |= !write.more;
                last.ends_record = write.ends_record;
            }
            None => self.pieces.push_back(Piece {
                bytes: write.bytes,
                is_pushed: !write.more,
                ends_record: write.ends_record,
            }),
        }
    }
}

impl Endpoint {
    /// The application writes. Returns whether it may.
    pub fn write(&mut self, write: Write, now: Time) -> bool {
        if !self.is_writing || !matches!(self.state, State::Established | State::CloseWait) {
            return false;
        }
        if write.bytes > 0 {
            self.writing.add(write);
            self.hand_over(write.more || self.coalescing.corked, now);
            self.note_activity(now);
        }
        true
    }

    /// The application no longer wants small segments to wait: those that wait leave, corked or not (Linux tcp.c,
    /// __tcp_sock_set_nodelay).
    pub fn stop_delaying(&mut self, now: Time) {
        self.coalescing.no_delay = true;
        self.release_all(now);
    }

    /// The application wants only full segments to leave, or no longer.
    pub fn cork(&mut self, is_corked: bool, now: Time) {
        self.coalescing.corked = is_corked;
        self.release(now);
    }

    /// What waits leaves, if it may now.
    pub(super) fn release(&mut self, now: Time) {
        self.hand_over(self.coalescing.corked, now);
    }

    /// What waits leaves, however small.
    pub(super) fn release_all(&mut self, now: Time) {
        if self.writing.deadline() <= now
            && let Some(last) = self.writing.pieces.back_mut()
        {
            last.is_pushed = true;
        }
        let before = std::mem::replace(&mut self.coalescing, Coalescing { no_delay: true, corked: false });
        self.release(now);
        self.coalescing = before;
    }

    /// Bytes that were written and have not left.
    pub fn unsent(&self) -> u64 {
        let left = self.pusher.next() - FIRST_DATA;
        self.stream.as_ref().map_or(0, |stream| stream.sender.written().saturating_sub(left)) + self.writing.waiting()
    }

    fn hand_over(&mut self, is_corked: bool, now: Time) {
        while let Some(piece) = self.writing.pieces.front().copied() {
            let Some(stream) = &mut self.stream else { return };
            let mss = stream.profile.segment_size.0;
            let queued = stream.sender.written().saturating_sub(self.pusher.next() - FIRST_DATA);
            if self.writing.ends_record && queued > 0 {
                break;
            }
            let full = ((queued + piece.bytes) / mss * mss).saturating_sub(queued);
            let is_last = self.writing.pieces.len() == 1;
            let small_is_out = self.writing.small > self.acknowledged;
            let waits = is_last && (is_corked || !self.coalescing.no_delay && small_is_out);
            let bytes = if waits { full } else { piece.bytes };
            if bytes == 0 {
                break;
            }
            let is_whole = bytes == piece.bytes;
            let before = stream.sender.written();
            let mut outbox = Vec::new();
            stream.sender.write(bytes, now, &mut outbox);
            let overhead = stream.profile.segment_overhead();
            let ends = outbox.iter().filter(|packet| packet.has(flags::DATA)).map(|packet| {
                stream.sender.payload_below(packet.number) + u64::from(packet.size).saturating_sub(overhead)
            });
            let sendable = ends.max().unwrap_or(0);
            let write = Written { before, all: before + bytes, is_pushed: is_whole && piece.is_pushed };
            self.pusher.on_write(write, sendable, stream);
            self.writing.ends_record = is_whole && piece.ends_record;
            if is_whole {
                self.writing.pieces.pop_front();
            } else if let Some(first) = self.writing.pieces.front_mut() {
                first.bytes -= bytes;
            }
            self.send_data(&outbox, now);
            if !is_whole {
                break;
            }
        }
        let is_idle = self.stream.as_ref().is_some_and(|stream| stream.sender.info().outstanding == 0);
        let waits = !self.writing.pieces.is_empty() && is_idle;
        self.writing.deadline = match (waits, self.writing.deadline) {
            (false, _) => None,
            (true, Some(deadline)) => Some(deadline),
            (true, None) => self.stream.as_ref().map(|stream| now + stream.sender.info().rto),
        };
    }
}
