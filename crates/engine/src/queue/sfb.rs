//! SFB, stochastic fair BLUE: Feng, Kandlur, Saha and Shin, "Stochastic fair blue: a queue management algorithm for
//! enforcing fairness", INFOCOM 2001. A flow is hashed to one bin on each of several levels. Each bin has a drop
//! probability, updated as in BLUE. The drop probability of a flow is the minimum over its bins. An unresponsive flow
//! drives all of its bins to one; a flow that shares only some of them is not affected.

use super::parts::FlowHash;
use super::{BoundedFifo, Context, Limit, QueueDiscipline, Queued};
use crate::line::Line;
use crate::packet::Packet;
use crate::random::Random;
use crate::time::{Duration, Time};

parameters! {
    pub struct SfbParameters {
        bin_size: u64 = 20, in 1..1e9, "Number of packets in a bin from which its drop probability rises", "Linux net/sched/sch_sfb.c";
        maximum: u64 = 25, in 1..1e9, "Number of packets in each of a flow's bins from which its packets are dropped", "Linux net/sched/sch_sfb.c";
        increment: f64 = 0.001, in 0..1, "Increase of a full bin's drop probability per arrival (delta_1)", "Linux net/sched/sch_sfb.c";
        decrement: f64 = 1.0 / 6000.0, in 0..1, "Decrease of an empty bin's drop probability per arrival (delta_2)", "Linux net/sched/sch_sfb.c";
        rehash_interval: Duration = Duration::from_seconds(600), in 1e6..1e18, "Lifetime of a hash", "Linux net/sched/sch_sfb.c";
        warmup_time: Duration = Duration::from_seconds(60), "Time before its end at which the next hash's bins begin to learn the unresponsive flows", "Linux net/sched/sch_sfb.c";
        penalty_rate: f64 = 10.0, in 0..1e9, "Packets per second admitted from all unresponsive flows together", "Linux net/sched/sch_sfb.c";
        penalty_burst: u64 = 20, "Maximum burst of such packets", "Linux net/sched/sch_sfb.c";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "Feng et al. 2001: marks or drops; Linux marks";
    }
}

/// The number of levels (Linux net/sched/sch_sfb.c).
const LEVELS: usize = 8;
/// The number of bins per level (Linux net/sched/sch_sfb.c).
const BINS: usize = 16;
/// The drop probability from which ECN-capable packets are also dropped, at a rate that increases until all are dropped
/// at one (Linux net/sched/sch_sfb.c).
const MARKS_UP_TO: f64 = 0.5;
/// The maximum time over which tokens accumulate (Linux net/sched/sch_sfb.c).
const LONGEST_GATHERING: Duration = Duration::from_seconds(10);

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    packets: u64,
    probability: f64,
}

/// The bins of one hash function.
#[derive(Debug, Default)]
struct Bins {
    hash: FlowHash,
    levels: [[Bin; BINS]; LEVELS],
}

impl Bins {
    /// The bins of a flow, one on each level.
    fn of(&mut self, hash: u32) -> impl Iterator<Item = &mut Bin> {
        let bits = BINS.trailing_zeros();
        let bin = move |level: usize| (hash >> (bits * level as u32)) as usize % BINS;
        self.levels.iter_mut().enumerate().map(move |(level, bins)| &mut bins[bin(level)])
    }

    /// Updates the bins of a flow on an arrival. Returns the minimum length, in packets, and the minimum drop
    /// probability.
    fn on_arrival(&mut self, hash: u32, parameters: &SfbParameters) -> (u64, f64) {
        let (mut packets, mut probability) = (u64::MAX, 1.0_f64);
        for bin in self.of(hash) {
            if bin.packets == 0 {
                bin.probability = (bin.probability - parameters.decrement).max(0.0);
            } else if bin.packets >= parameters.bin_size {
                bin.probability = (bin.probability + parameters.increment).min(1.0);
            }
            packets = packets.min(bin.packets);
            probability = probability.min(bin.probability);
        }
        (packets, probability)
    }
}

/// The hash of a queued packet in each set of bins. `None` if the set was not in use.
type Places = [Option<u32>; 2];

state! {
    pub Sfb(limit: Limit, parameters: SfbParameters) {
        parameters: SfbParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        /// The hashes of the queued packets, in queue order.
        places: Line<Places>,
        /// The bins in use and those of the next hash function.
        sets: Box<[Bins; 2]>,
        /// The index of the set in use.
        used: usize,
        rehashed_at: Time,
        /// The number of packets of unresponsive flows that may still be admitted.
        tokens: u64 = parameters.penalty_burst,
        tokens_at: Time,
    }
}

about! { Sfb:
    name: "sfb",
    aliases: ["stochastic_fair_blue"],
    title: "SFB",
    class: "aqm",
    year: 2001,
    source: "Feng, Kandlur, Saha and Shin, INFOCOM 2001; Linux net/sched/sch_sfb.c",
    deviations: "as in Linux, bins learn from every arrival, without freeze_time; unresponsive flows share a rate; \
                 from a drop probability of one half, ECN-capable packets are dropped too. Unlike in Linux, that rate \
                 does not depend on how often packets arrive, and drop probabilities are not rounded to 1/65536",
}

impl Sfb {
    /// Changes to the next hash function when due. Returns whether the bins of the next one are being updated.
    fn rehash(&mut self, context: &mut Context) -> bool {
        let age = context.now.since(self.rehashed_at);
        let SfbParameters { rehash_interval, warmup_time, .. } = self.parameters;
        if age > rehash_interval {
            self.sets[self.used].hash.perturb(context.random);
            self.used = 1 - self.used;
            self.rehashed_at = context.now;
            return false;
        }
        warmup_time > Duration::ZERO && age > rehash_interval - warmup_time
    }

    /// Whether a packet of an unresponsive flow is admitted.
    fn takes_token(&mut self, now: Time) -> bool {
        if self.tokens == 0 {
            let gathering = now.since(self.tokens_at).min(LONGEST_GATHERING);
            let gathered = (gathering.seconds() * self.parameters.penalty_rate) as u64;
            self.tokens = gathered.min(self.parameters.penalty_burst);
            if self.tokens == 0 {
                return false;
            }
            self.tokens_at = now;
        }
        self.tokens -= 1;
        true
    }

    /// Whether a packet passes and, if not, whether it may be marked. The drop probability of its flow is below one.
    fn draw(&self, probability: f64, random: &mut Random) -> (bool, bool) {
        let draw = random.unit();
        (draw >= probability, self.parameters.ecn && draw >= (probability - MARKS_UP_TO) * 2.0)
    }
}

impl QueueDiscipline for Sfb {
    const RANDOM: Option<&'static str> = Some("drops and hash of flows to bins");
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, mut packet: Packet, context: &mut Context) {
        if !self.queue.admits(&packet, context) {
            return;
        }
        let next_learns = self.rehash(context);
        let (used, next) = (self.used, 1 - self.used);
        let mut hash = |set: &mut Bins| set.hash.bucket(&packet, 1 << 32, context.random) as u32;
        let mut places: Places = [None; 2];
        let own = hash(&mut self.sets[used]);
        places[used] = Some(own);
        let (packets, probability) = self.sets[used].on_arrival(own, &self.parameters);
        let (passes, may_mark) = if packets >= self.parameters.maximum {
            (false, false)
        } else if probability >= 1.0 {
            if next_learns {
                let other = hash(&mut self.sets[next]);
                places[next] = Some(other);
                self.sets[next].on_arrival(other, &self.parameters);
            }
            (self.takes_token(context.now), false)
        } else {
            self.draw(probability, context.random)
        };
        if !passes && !context.mark_or_drop(&mut packet, may_mark, None) {
            return;
        }
        for (set, hash) in self.sets.iter_mut().zip(places) {
            let Some(hash) = hash else { continue };
            for bin in set.of(hash) {
                bin.packets += 1;
            }
        }
        self.places.push(places);
        self.queue.push(packet, context.now);
    }

    fn dequeue(&mut self, _context: &mut Context) -> Option<Queued> {
        let head = self.queue.pop()?;
        let places = self.places.pop().expect("each packet queued is counted somewhere");
        for (set, hash) in self.sets.iter_mut().zip(places) {
            let Some(hash) = hash else { continue };
            for bin in set.of(hash) {
                bin.packets -= 1;
            }
        }
        Some(head)
    }

    lengths_of!(queue, at_rest_when_empty);
}
