//! A queue whose packets leave as they are and in the order in which they came, whatever comes later.
//!
//! When a packet leaves it is therefore known when it is queued: it goes on its way at once, and needs no event. Its discipline is asked
//! for it later, with the time at which it left, before anything else is to be known of the queue.

use super::{Drops, MeasuredQueue, Transmitter};
use crate::line::Line;
use crate::network::measured_queue::Fate;
use crate::packet::{OptionsPool, Packet};
use crate::queue::QueueDiscipline;
use crate::time::{Duration, Time};

/// See the module. Its link has one rate.
#[derive(Debug)]
pub struct ForeseenQueue {
    pub queue: MeasuredQueue,
    /// Of the queued packets.
    transmissions: Line<Transmission>,
}

#[derive(Clone, Copy, Debug)]
struct Transmission {
    completion: Time,
    time: Duration,
}

impl ForeseenQueue {
    pub fn new(queue: MeasuredQueue) -> ForeseenQueue {
        ForeseenQueue { queue, transmissions: Line::default() }
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
            queue.pass(packet.size, now, transmitter);
            self.after_taking(now);
            return Some((packet, transmitter.busy_until));
        }
        let fate = queue.enqueue(packet, now, drops, options);
        if fate != Fate::Dropped {
            let completion = transmitter.transmit(packet.size, now);
            self.transmissions.push(Transmission { completion, time: transmitter.latest_transmission() });
        }
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
        Some((packet, transmitter.busy_until))
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
        let transmissions = &mut self.transmissions;
        let transmit = |_| {
            let Transmission { completion, time } = transmissions.pop().expect("each queued packet has its own");
            (completion, time)
        };
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
