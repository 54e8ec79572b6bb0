//! The receive window that acknowledgements carry: up to where the sender may send. Its right edge never moves back (RFC 9293 section
//! 3.8.6), and moves on by less than a segment only if all has been read (section 3.8.6.2.2).

use super::receive_window::{Offer, ReceiveWindow};
use crate::time::{Duration, Time};
use crate::units::Rate;

/// The most that the window of a SYN can be, which is never scaled (RFC 7323 section 2.2).
const MOST_OF_SYN: u64 = 65_535;

/// A receiver whose window may limit its sender.
#[derive(Clone, Copy, Debug)]
pub struct Advertised {
    pub segment: u64,
    /// The receive buffer, as far as it is window.
    pub buffer: u64,
    /// How fast the application reads; none if at once.
    pub reading: Option<Rate>,
}

/// The window of a connection, and how far its application has read.
#[derive(Clone, Debug)]
pub struct Advertisement {
    advertised: Advertised,
    /// The right edge of the window.
    edge: u64,
    /// Up to where the application had read at a moment.
    position: u64,
    at: Time,
}

/// What a receiver holds.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Next byte that is expected.
    pub rcv_nxt: u64,
    /// Bytes that wait above a gap.
    pub waiting: u64,
    /// The number of blocks that they are.
    pub blocks: u64,
}

impl Advertisement {
    /// The window of a connection whose SYN arrived; `rcv_nxt` is the first byte of data. `window` is one that grows.
    pub fn new(advertised: Advertised, window: Option<&ReceiveWindow>, rcv_nxt: u64, now: Time) -> Advertisement {
        let first = window.map_or(advertised.buffer, ReceiveWindow::first).min(MOST_OF_SYN);
        Advertisement { advertised, edge: rcv_nxt + first, position: rcv_nxt, at: now }
    }

    pub fn window(&self, rcv_nxt: u64) -> u64 {
        self.edge.saturating_sub(rcv_nxt)
    }

    /// The application reads up to this byte, as far as it can until now. Returns how far it has read.
    pub fn read(&mut self, rcv_nxt: u64, now: Time) -> u64 {
        let Some(rate) = self.advertised.reading else {
            self.position = rcv_nxt;
            return rcv_nxt;
        };
        let bits = u128::from(now.since(self.at).0) * u128::from(rate.0) / u128::from(Duration::from_seconds(1).0);
        let bytes = u64::try_from(bits / 8).unwrap_or(u64::MAX);
        if bytes >= rcv_nxt - self.position {
            (self.position, self.at) = (rcv_nxt, now);
        } else {
            self.position += bytes;
            self.at += rate.transmission_time(bytes);
        }
        self.position
    }

    /// Moves the edge as far as it may be moved now, and returns the window.
    pub fn offer(&mut self, held: Held, window: Option<&ReceiveWindow>) -> u64 {
        let Held { rcv_nxt, .. } = held;
        let present = self.window(rcv_nxt);
        let offered = match window {
            Some(window) => window.offer(self.held(held)).max(window.aligned(present)),
            None => {
                let room = (self.position + self.advertised.buffer).saturating_sub(rcv_nxt);
                let is_worth_it = self.position == rcv_nxt || room >= present + self.least();
                if is_worth_it { room.max(present) } else { present }
            }
        };
        self.edge = rcv_nxt + offered;
        offered
    }

    /// The least by which the edge moves while something is unread.
    fn least(&self) -> u64 {
        self.advertised.segment.min(self.advertised.buffer / 2)
    }

    /// Bytes in order, up to this one, that the application has not read.
    pub fn unread(&self, rcv_nxt: u64) -> u64 {
        rcv_nxt - self.position
    }

    fn held(&self, held: Held) -> Offer {
        Offer { unread: self.unread(held.rcv_nxt), waiting: held.waiting, blocks: held.blocks }
    }

    /// Whether the application reads slowly, so that a larger window may be told unasked.
    pub fn is_read_slowly(&self) -> bool {
        self.advertised.reading.is_some()
    }

    /// When the sender is told that the window is at least twice as large (Linux tcp.c, __tcp_cleanup_rbuf), `NEVER` if the next
    /// acknowledgement suffices or the application would have to read more than there is.
    pub fn update_due(&self, held: Held, window: Option<&ReceiveWindow>) -> Time {
        let Some(rate) = self.advertised.reading else { return Time::NEVER };
        let present = self.window(held.rcv_nxt);
        let position = match window {
            Some(window) => {
                window.unread_for_twice(present, self.held(held)).map(|unread| held.rcv_nxt.saturating_sub(unread))
            }
            None if 2 * present > self.advertised.buffer => None,
            None => {
                let edge = self.edge + present.max(self.least());
                Some(edge.saturating_sub(self.advertised.buffer).min(held.rcv_nxt))
            }
        };
        match position {
            Some(position) if position > self.position => self.at + rate.transmission_time(position - self.position),
            _ => Time::NEVER,
        }
    }
}
