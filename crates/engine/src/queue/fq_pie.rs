//! FQ-PIE: flows are hashed to queues, each under PIE and served as in FQ-CoDel. Linux net/sched/sch_fq_pie.c.

use super::parts::{FlowQueues, Measure, PieControl, Rotation};
use super::{Context, Fifo, FlowHash, Limit, PieParameters, QueueDiscipline, Queued};
use crate::packet::Packet;
use crate::time::{Duration, Time};
use crate::units::Bytes;

parameters! {
    pub struct FqPieParameters {
        queues: u64 = 1024, in 1..65536, "Queues that flows are hashed to", "Linux, net/sched/sch_fq_pie.c; ns-3, fq-pie-queue-disc.cc";
        quantum: Bytes = Bytes(1514), in 1..1e6, "Bytes that a queue may send per turn", "Linux, net/sched/sch_fq_pie.c: the MTU with its header";
        ..pie: PieParameters, except scaling, estimator, departure_threshold, high_delay {
            mean_packet_size = Bytes(1500), "Linux, include/net/pie.h: the MTU";
            ecn = false, "off in Linux, net/sched/sch_fq_pie.c; on in ns-3, fq-pie-queue-disc.cc";
            mark_threshold = 0.1, "RFC 8033 section 5.1; Linux, net/sched/sch_fq_pie.c, ecn_prob";
        };
    }
}

state! {
    pub FqPie(limit: Limit, parameters: FqPieParameters) {
        quantum: u64 = parameters.quantum.0,
        pie: PieParameters = parameters.pie,
        hash: FlowHash,
        controls: Box<[PieControl]> = (0..parameters.queues as usize).map(|_| PieControl::new(&pie)).collect(),
        queues: FlowQueues = FlowQueues::new(controls.len(), Measure::Bytes, limit),
        rotation: Rotation = Rotation::new(controls.len()),
        /// The queues whose control is not at rest. Only these are updated.
        moving: Vec<u32> = Vec::with_capacity(controls.len()),
        is_moving: Box<[bool]> = vec![false; controls.len()].into(),
    }
}

about! { FqPie:
    name: "fq_pie",
    aliases: ["fqpie"],
    title: "FQ-PIE",
    class: "scheduler",
    year: 2019,
    source: "Linux net/sched/sch_fq_pie.c; RFC 8033",
    deviations: "PIE is RFC 8033's as in `pie`, with timestamps, and so without Linux's two points above 250 ms, \
                 except with rules linux; no limit by default (10240 packets in Linux); at the limit arrivals are \
                 dropped as in Linux, where ns-3 drops half of the fattest queue; no memory limit",
}

impl QueueDiscipline for FqPie {
    const RANDOM: Option<&'static str> = Some("drops and hash of flows to queues");

    fn enqueue(&mut self, mut packet: Packet, context: &mut Context) {
        let queue = self.hash.bucket(&packet, self.controls.len() as u64, context.random) as usize;
        let control = &mut self.controls[queue];
        if !self.queues.admits(&packet, context) {
            control.on_overflow();
            return;
        }
        if control.admits(&mut packet, self.queues.line(queue), &self.pie, context) {
            self.queues.push(queue, packet, context.now);
            self.rotation.join(queue, self.quantum);
        }
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        loop {
            let queue = self.rotation.turn(self.quantum)?;
            let Some(head) = self.queues.with(queue, Fifo::pop) else {
                self.rotation.pass(queue);
                continue;
            };
            let control = &mut self.controls[queue];
            control.on_departure(&head, self.queues.line(queue), &self.pie, context.now);
            if !self.is_moving[queue] && !control.is_at_rest() {
                self.is_moving[queue] = true;
                self.moving.push(queue as u32);
            }
            self.rotation.charge(queue, u64::from(head.packet.size));
            return Some(head);
        }
    }

    lengths_of!(queues);

    fn is_at_rest(&self) -> bool {
        self.rotation.is_empty()
    }

    fn timer_interval(&self) -> Option<Duration> {
        Some(self.pie.update_interval)
    }

    fn on_timer(&mut self, _now: Time) {
        let FqPie { moving, is_moving, controls, queues, pie, .. } = self;
        moving.retain(|queue| {
            let queue = *queue as usize;
            controls[queue].update(queues.line(queue), pie);
            is_moving[queue] = !controls[queue].is_at_rest();
            is_moving[queue]
        });
    }
}
