//! Detection of loss events from the arriving packets: RFC 5348 sections 5.1 to 5.3.

use std::collections::VecDeque;

use super::intervals::Intervals;
use crate::time::{Duration, Time};

/// NDUPACK of section 5.1: a packet is lost when this number of packets with higher sequence numbers have arrived.
const PACKETS_AFTER_A_LOSS: u32 = 3;

/// A packet and its arrival time.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    number: u64,
    time: Time,
}

/// A range of missing packets, `start` to `end` exclusive, between two consecutive arrivals.
#[derive(Clone, Copy, Debug)]
struct Hole {
    start: u64,
    end: u64,
    /// S_before and T_before of section 5.2.
    before: Arrival,
    /// S_after and T_after of section 5.2.
    after: Arrival,
    /// The number of packets with higher numbers that have arrived.
    later: u32,
}

impl Hole {
    /// T_loss: the interpolated arrival time of a missing packet.
    fn time_of(&self, number: u64) -> Time {
        let between = u128::from(self.after.time.since(self.before.time).0);
        let share = u128::from(number - self.before.number) * between;
        let whole = u128::from(self.after.number - self.before.number);
        self.before.time + Duration((share / whole.max(1)) as u64)
    }
}

/// The receiver's record of losses.
#[derive(Clone, Debug)]
pub struct Losses {
    intervals: Intervals,
    holes: VecDeque<Hole>,
    highest: Option<Arrival>,
    /// The first packet of the current loss event: S_old and T_old of section 5.2.
    event: Option<Arrival>,
}

impl Losses {
    /// Creates the record before the first packet, which has number 0.
    pub fn new(intervals: Intervals) -> Losses {
        Losses { intervals, holes: VecDeque::new(), highest: None, event: None }
    }

    /// The loss event rate p, 0 before the first loss event.
    pub fn loss_event_rate(&self) -> f64 {
        let (Some(event), Some(highest)) = (self.event, self.highest) else {
            return 0.0;
        };
        // Section 5.3: S_C - S_A + 1.
        self.intervals.loss_event_rate((highest.number.saturating_sub(event.number) + 1) as f64)
    }

    pub fn highest(&self) -> Option<u64> {
        self.highest.map(|highest| highest.number)
    }

    /// Processes an arrival. Returns whether it starts a new loss event. `first_interval` gives the length of the
    /// interval before the first loss event; its argument tells whether no packet arrived before that event (section
    /// 6.3.1).
    pub fn on_packet(
        &mut self,
        number: u64,
        marked: bool,
        now: Time,
        rtt: Duration,
        first_interval: impl Fn(bool) -> f64,
    ) -> bool {
        let arrival = Arrival { number, time: now };
        match self.highest {
            Some(highest) if number <= highest.number => self.fill(number),
            highest => self.extend(highest, arrival),
        }
        let mut is_new = false;
        while let Some(hole) = self.next_lost(marked.then_some(number)) {
            for lost in hole.start..hole.end {
                is_new |= self.on_loss(Arrival { number: lost, time: hole.time_of(lost) }, rtt, &first_interval);
            }
        }
        is_new | (marked && self.on_loss(arrival, rtt, &first_interval))
    }

    /// Records a packet with the highest number so far. The skipped numbers are missing.
    fn extend(&mut self, highest: Option<Arrival>, arrival: Arrival) {
        // Before the first packet there is no arrival from which to interpolate the times of the skipped packets.
        let (start, before) = match highest {
            Some(highest) => (highest.number + 1, highest),
            None => (0, Arrival { number: 0, time: arrival.time }),
        };
        if start < arrival.number {
            self.holes.push_back(Hole { start, end: arrival.number, before, after: arrival, later: 0 });
        }
        for hole in &mut self.holes {
            hole.later += 1;
        }
        self.highest = Some(arrival);
    }

    /// Records a late packet. If it is not missing, it is a duplicate or already counted as lost, which it remains.
    fn fill(&mut self, number: u64) {
        let Some(place) = self.holes.iter().position(|hole| (hole.start..hole.end).contains(&number)) else {
            return;
        };
        for hole in self.holes.iter_mut().take(place) {
            hole.later += 1;
        }
        let hole = self.holes[place];
        let (below, above) = (Hole { end: number, later: hole.later + 1, ..hole }, Hole { start: number + 1, ..hole });
        self.holes.remove(place);
        for part in [above, below] {
            if part.start < part.end {
                self.holes.insert(place, part);
            }
        }
    }

    /// Removes and returns the lowest hole if its packets are lost: enough packets, or a marked one, have arrived above
    /// it (section 5.1).
    fn next_lost(&mut self, marked: Option<u64>) -> Option<Hole> {
        let lowest = self.holes.front()?;
        let is_lost = lowest.later >= PACKETS_AFTER_A_LOSS || marked.is_some_and(|marked| lowest.end <= marked);
        if is_lost { self.holes.pop_front() } else { None }
    }

    /// Records a lost or marked packet. Returns whether it is the first of a new loss event (section 5.2).
    fn on_loss(&mut self, loss: Arrival, rtt: Duration, first_interval: &impl Fn(bool) -> f64) -> bool {
        let length = match self.event {
            None => first_interval(loss.number == 0),
            Some(event) if loss.number > event.number && loss.time > event.time + rtt => {
                (loss.number - event.number) as f64
            }
            Some(_) => return false,
        };
        self.intervals.end(length);
        self.event = Some(loss);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_milliseconds(100);

    /// Receives packets with these numbers, a millisecond apart. Returns the numbers of the packets that revealed the
    /// first loss events.
    fn events_after(numbers: &[u64]) -> Vec<u64> {
        let mut losses = Losses::new(Intervals::new(8, None));
        let mut found = Vec::new();
        for (place, number) in numbers.iter().enumerate() {
            let now = Time::ZERO + Duration::from_milliseconds(place as u64);
            if losses.on_packet(*number, false, now, RTT, |_| 1000.0) {
                found.push(*number);
            }
        }
        found
    }

    /// Section 5.1: a packet is lost once three packets with higher sequence numbers have arrived. One that arrives
    /// late, but before that, is not lost.
    #[test]
    fn loss_after_three_packets() {
        assert_eq!(events_after(&[0, 1, 3, 4]), [0; 0]);
        assert_eq!(events_after(&[0, 1, 3, 4, 5]), [5]);
        assert_eq!(events_after(&[0, 1, 3, 4, 2, 5, 6]), [0; 0]);
        assert_eq!(events_after(&[0, 1, 3, 4, 5, 2, 6]), [5]);
        // Of 2 and 3 the first arrives late. Packet 6 is the third above 3.
        assert_eq!(events_after(&[0, 1, 4, 2, 5, 6]), [6]);
    }

    /// Section 5.2: losses within a round-trip time of the first loss belong to its loss event, later ones do not.
    #[test]
    fn loss_event_duration() {
        let without = |lost: &[u64]| (0..400).filter(|number| !lost.contains(number)).collect::<Vec<u64>>();
        assert_eq!(events_after(&without(&[100, 101, 150, 190])), [104]);
        // Packets arrive a millisecond apart except for the lost ones: 250 would have arrived about 148 ms after 100.
        assert_eq!(events_after(&without(&[100, 101, 150, 250])), [104, 253]);
    }

    /// Section 5.2: T_loss is interpolated linearly between the arrivals before and after the loss.
    #[test]
    fn interpolated_loss_time() {
        let at = |number, milliseconds: u64| Arrival { number, time: Time(milliseconds * 1_000_000_000) };
        let hole = Hole { start: 11, end: 15, before: at(10, 100), after: at(15, 200), later: 1 };
        assert_eq!(hole.time_of(12), at(12, 140).time);
    }

    /// Section 5.3: the interval from 100 to 250 has 150 packets. The current one extends to the highest sequence
    /// number.
    #[test]
    fn loss_interval_lengths() {
        let mut losses = Losses::new(Intervals::new(8, None));
        for number in (0..=2000).filter(|number| ![100, 250].contains(number)) {
            let now = Time::ZERO + Duration::from_milliseconds(number);
            losses.on_packet(number, false, now, RTT, |_| 50.0);
        }
        // I_0 = 2000 - 250 + 1, I_1 = 150, and the synthetic I_2 of 50 falls out of I_tot0.
        let expected = 2.0 / (1751.0 + 150.0);
        let measured = losses.loss_event_rate();
        assert!((measured / expected - 1.0).abs() < 1e-12, "{measured}, expected {expected}");
    }

    /// Section 5.1: a mark is a loss event immediately. Packets missing below it belong to the event, which starts with
    /// them.
    #[test]
    fn mark_is_loss_event() {
        let mut losses = Losses::new(Intervals::new(8, None));
        let mut come = |number, marked| losses.on_packet(number, marked, Time(number), RTT, f64::from);
        assert!(!come(0, false));
        assert!(!come(2, false));
        assert!(come(3, true));
        assert_eq!(losses.event.map(|event| event.number), Some(1));
    }

    /// Section 6.3.1: the interval before the first loss is empty if the very first packet is lost.
    #[test]
    fn first_packet_lost() {
        for (numbers, is_null) in [([1, 2, 3], true), ([0, 2, 3], false)] {
            let mut losses = Losses::new(Intervals::new(8, None));
            let told = std::cell::Cell::new(None);
            for number in numbers.into_iter().chain([4]) {
                losses.on_packet(number, false, Time(number), RTT, |is_null| {
                    told.set(Some(is_null));
                    10.0
                });
            }
            assert_eq!(told.get(), Some(is_null));
        }
    }
}
