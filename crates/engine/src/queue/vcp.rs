//! The router's part of VCP: Xia, Subramanian, Stoica and Kalyanaraman, "One more bit is enough", SIGCOMM 2005. Tail
//! drop that measures the load of its link and encodes it in departing packets. The sender's part is the congestion
//! control `vcp`.

use super::{BoundedFifo, Context, Limit, QueueDiscipline, Queued};
use crate::packet::{LoadFactor, Packet};
use crate::time::{Duration, Time};
use crate::units::Rate;

parameters! {
    pub struct VcpRouterParameters {
        load_interval: Duration = Duration::from_milliseconds(200), in 1e6..1e18, "Time over which the load is measured (t_rho)", "Xia et al. 2005; the authors' ns-2 vcp-queue.h";
        sampling_interval: Duration = Duration::from_milliseconds(10), in 1e6..1e18, "Time between samples of the queue (t_q)", "Xia et al. 2005; the authors' ns-2 vcp-queue.h";
        queue_weight: f64 = 0.5, in 0..1000, "Weight of the persistent queue in the load (kappa_q)", "Xia et al. 2005; the authors' ns-2 vcp-queue.h";
        target_utilisation: f64 = 0.95, in 0.01..1, "Share of the link's rate that is full load (gamma)", "the authors' ns-2 vcp-queue.cc: 0.95 at first, then by rate: 0.94 at 1, 0.96 at 10, 0.975 at 100 and 0.985 at 1000 Mbit/s";
    }
}

/// The load factor from which the load is high (the authors' ns-2 vcp-cmn.h, `LF_0`).
const HIGH_LOAD: f64 = 0.8;
/// The load factor from which there is overload (`LF_1`).
const OVERLOAD: f64 = 1.0;
/// The weight of the latest interval's mean queue length in the persistent queue (the authors' ns-2 vcp-queue.cc).
const LATEST_QUEUE: f64 = 0.25;

state! {
    pub VcpRouter(limit: Limit, parameters: VcpRouterParameters) {
        parameters: VcpRouterParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        /// The rate of the link. Until it is known, the load is low.
        rate: Option<Rate>,
        interval_start: Time,
        /// Bytes that arrived in this interval.
        arrived: u64,
        /// Sum of the sampled queue lengths, in bytes, and the number of samples.
        sampled: (u64, u64),
        /// The persistent queue length, in bytes.
        persistent_queue: f64,
        load_factor: f64,
    }
}

about! { VcpRouter:
    name: "vcp",
    aliases: ["vcp_router"],
    title: "VCP router",
    class: "passive",
    year: 2005,
    source: "Xia, Subramanian, Stoica and Kalyanaraman, SIGCOMM 2005",
    deviations: "the target utilisation is the same for all rates; the filter of the persistent queue is that of the \
                 authors' ns-2 code; the load factor is not rounded up to whole percent, as it is there",
}

impl VcpRouter {
    /// The load factor of the latest interval (rho).
    pub fn load_factor(&self) -> f64 {
        self.load_factor
    }

    /// The code written into departing packets.
    pub fn code(&self) -> LoadFactor {
        match self.load_factor {
            load if load < HIGH_LOAD => LoadFactor::Low,
            load if load < OVERLOAD => LoadFactor::High,
            _ => LoadFactor::Overload,
        }
    }

    /// Computes the load factor at the end of an interval: rho = (lambda + kappa_q q) / (gamma C t_rho).
    fn measure(&mut self, rate: Rate, elapsed: Duration, now: Time) {
        let VcpRouterParameters { queue_weight, target_utilisation, .. } = self.parameters;
        let (sum, count) = self.sampled;
        let mean_queue = sum as f64 / count.max(1) as f64;
        self.persistent_queue += LATEST_QUEUE * (mean_queue - self.persistent_queue);
        let capacity = target_utilisation * rate.0 as f64 / 8.0 * elapsed.seconds();
        self.load_factor = (self.arrived as f64 + queue_weight * self.persistent_queue) / capacity;
        self.interval_start = now;
        self.arrived = 0;
        self.sampled = (0, 0);
    }
}

impl QueueDiscipline for VcpRouter {
    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        self.arrived += u64::from(packet.size);
        self.queue.enqueue(packet, context);
    }

    /// Sets the packet's load factor to the maximum over its path.
    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        let mut head = self.queue.pop()?;
        let code = self.code();
        if head.packet.load_factor().is_some_and(|told| told < code) {
            head.packet.set_load_factor(code);
            if head.packet.is_marked() {
                context.count_mark();
            }
        }
        Some(head)
    }

    lengths_of!(queue, at_rest_when_empty);

    fn set_link_rate(&mut self, rate: Rate) {
        self.rate = Some(rate);
    }

    fn timer_interval(&self) -> Option<Duration> {
        Some(self.parameters.sampling_interval)
    }

    fn on_timer(&mut self, now: Time) {
        let (sum, count) = self.sampled;
        self.sampled = (sum + self.queue.bytes(), count + 1);
        let elapsed = now.since(self.interval_start);
        if let Some(rate) = self.rate
            && elapsed >= self.parameters.load_interval
        {
            self.measure(rate, elapsed, now);
        }
    }
}
