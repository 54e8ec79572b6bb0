//! Token bucket filter: a shaper with a token rate and a maximum burst.

use super::{BoundedFifo, Context, DropCause, Limit, QueueDiscipline, Queued};
use crate::packet::Packet;
use crate::time::{Duration, PICOSECONDS_PER_SECOND, Time};
use crate::units::{Bytes, Rate};

parameters! {
    pub struct TbfParameters {
        rate: Rate = Rate(1_000_000), "Token rate", "ns-3, tbf-queue-disc.cc; Linux, net/sched/sch_tbf.c, has no default";
        burst: Bytes = Bytes(125_000), in 1..1e12, "Size of the bucket", "ns-3, tbf-queue-disc.cc; Linux, net/sched/sch_tbf.c, has no default";
    }
}

/// The tokens for a byte. One token accrues per picosecond for each bit per second, so the arithmetic is exact.
const BYTE: u128 = 8 * PICOSECONDS_PER_SECOND as u128;

state! {
    pub Tbf(limit: Limit, parameters: TbfParameters) {
        rate: u64 = parameters.rate.0,
        burst: u128 = u128::from(parameters.burst.0) * BYTE,
        tokens: u128 = burst,
        /// When the tokens were last counted.
        counted: Time,
        /// When the head may be sent, `None` if at once.
        release: Option<Time>,
        queue: BoundedFifo = BoundedFifo::new(limit),
    }
}

about! { Tbf:
    name: "tbf",
    aliases: ["token_bucket", "token_bucket_filter"],
    title: "token bucket filter",
    class: "passive",
    year: 1999,
    source: "Linux net/sched/sch_tbf.c",
    deviations: "no second bucket for a peak rate; a packet larger than the bucket is dropped early, since it could \
                 never be sent",
}

impl Tbf {
    fn count_tokens(&mut self, now: Time) {
        let more = u128::from(self.rate) * u128::from(now.since(self.counted).0);
        self.tokens = (self.tokens + more).min(self.burst);
        self.counted = now;
    }

    /// Computes when the head may be sent.
    fn plan(&mut self, now: Time) {
        self.release = self.queue.line().get(0).and_then(|head| {
            let missing = (u128::from(head.packet.size) * BYTE).saturating_sub(self.tokens);
            // The size of a packet in tokens fits into 64 bits.
            (missing > 0).then(|| now + Duration((missing as u64).div_ceil(self.rate)))
        });
    }
}

impl QueueDiscipline for Tbf {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if !self.queue.admits(&packet, context) {
            return;
        }
        if u128::from(packet.size) * BYTE > self.burst {
            context.drop(packet, DropCause::Early, None);
            return;
        }
        self.queue.push(packet, context.now);
        if self.queue.packets() == 1 {
            self.count_tokens(context.now);
            self.plan(context.now);
        }
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        if self.release.is_some_and(|release| release > context.now) {
            return None;
        }
        let head = self.queue.pop()?;
        self.count_tokens(context.now);
        self.tokens -= u128::from(head.packet.size) * BYTE;
        self.plan(context.now);
        Some(head)
    }

    lengths_of!(queue, at_rest_when_empty);

    fn holds_back(&self) -> bool {
        true
    }

    fn release_time(&self) -> Option<Time> {
        self.release
    }
}
