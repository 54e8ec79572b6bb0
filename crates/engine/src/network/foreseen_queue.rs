//! A queue whose packets leave as they are and in the order in which they came, whatever comes later.
//!
//! When a packet leaves it is therefore known when it is queued: it goes on its way at once, and needs no event. Its discipline is asked
//! for it later, with the time at which it left, before anything else is to be known of the queue.

use super::{Drops, MeasuredQueue, Transmitter};
use crate::network::measured_queue::Fate;
use crate::packet::{OptionsPool, Packet};
use crate::queue::QueueDiscipline;
use crate::time::{Duration, Time};

/// See the module. Its link has one rate.
#[derive(Debug)]
pub struct ForeseenQueue {
    pub queue: MeasuredQueue,
    /// Has transmitted what has left the queue; the link's own is ahead of it by what is queued.
    behind: Transmitter,
}

impl ForeseenQueue {
    /// A queue for a link with such a transmitter, which is idle.
    pub fn new(queue: MeasuredQueue, behind: Transmitter) -> ForeseenQueue {
        ForeseenQueue { queue, behind }
    }

    /// A packet arrives. Returns it as it will leave, and when its transmission will be completed; none if it is dropped.
    #[inline(always)]
    pub fn offer(
        &mut self,
        mut packet: Packet,
        now: Time,
        transmitter: &mut Transmitter,
        drops: &mut Drops,
        options: &mut OptionsPool,
    ) -> Option<(Packet, Time)> {
        self.let_leave(now, drops, options);
        let queue = &mut self.queue;
        let has_room = queue.device.has_room_at() <= now;
        if has_room && queue.discipline.lets_pass(&packet) {
            queue.pass(packet.size, now, &mut self.behind);
            self.after_taking(now);
            return Some((packet, transmitter.transmit(packet.size, now)));
        }
        let fate = queue.enqueue(packet, now, drops, options);
        if has_room {
            self.take(now, drops, options);
        } else {
            self.queue.asks = !self.queue.discipline.is_at_rest();
        }
        match fate {
            Fate::Dropped => return None,
            Fate::Marked => packet.mark(),
            Fate::Queued => {}
        }
        Some((packet, transmitter.transmit(packet.size, now)))
    }

    /// The device takes what it has room for before a moment.
    pub fn let_leave_before(&mut self, moment: Time, drops: &mut Drops, options: &mut OptionsPool) {
        if let Some(last) = moment.0.checked_sub(1) {
            self.let_leave(Time(last), drops, options);
        }
    }

    #[inline(always)]
    fn let_leave(&mut self, until: Time, drops: &mut Drops, options: &mut OptionsPool) {
        while self.queue.asks && self.queue.device.has_room_at() <= until {
            self.take(self.queue.device.has_room_at(), drops, options);
        }
    }

    #[inline(always)]
    fn take(&mut self, now: Time, drops: &mut Drops, options: &mut OptionsPool) {
        let behind = &mut self.behind;
        let transmit = |size| (behind.transmit(size, now), behind.latest_transmission());
        if self.queue.dequeue(now, transmit, drops, options).is_some() {
            self.after_taking(now);
        } else {
            self.queue.asks = false;
        }
    }

    #[inline(always)]
    fn after_taking(&mut self, now: Time) {
        if self.queue.device.has_room_at() > now {
            self.queue.asks = !self.queue.discipline.is_at_rest();
        }
    }

    /// The time that the packets in the device take from `now` on.
    pub fn remaining(&self, now: Time) -> Duration {
        self.queue.device.latest().since(now)
    }
}
