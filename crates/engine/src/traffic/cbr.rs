//! Constant bit rate: an unresponsive source that sends packets at a fixed rate, equally spaced or with exponential
//! gaps, continuously or in on and off periods, as ns-2's Application/Traffic/CBR and Exponential. Nothing is sent back
//! to the sender.

use std::sync::Arc;

use super::{Offered, RateBased, Source, SourceSetup};
use crate::packet::{OptionsHandle, OptionsPool, Packet, flags};
use crate::probe::{DelayProbe, DelayStatistics};
use crate::random::{Purpose, Random};
use crate::tcp::sender::{Address, SenderStatistics};
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};

parameters! {
    pub struct CbrParameters {
        rate: Rate = Rate(448_000), "Rate on the link, headers included", "ns-2.35 tcl/lib/ns-default.tcl, Application/Traffic/CBR rate_";
        packet_size: Bytes = Bytes(210), in 1 .. 65535, "Packet size on the link, headers included", "ns-2.35 tcl/lib/ns-default.tcl, Application/Traffic/CBR packetSize_";
        poisson: bool = false, "Use exponential gaps between packets, with the same mean, instead of equal ones", "ns-2.35 tcl/lib/ns-default.tcl, Application/Traffic/CBR random_: equal gaps";
        on: Duration = Duration::from_milliseconds(500), in 1e6 .. 1e18, "Length of a sending period, if the source pauses; at least the gap between packets", "ns-2.35 tcl/lib/ns-default.tcl, Application/Traffic/Exponential burst_time_";
        off: Duration = Duration::ZERO, "Length of a pause; 0 for none", "ns-2.35 Application/Traffic/CBR never pauses; Exponential idle_time_ is 500 ms";
        exponential: bool = false, "Draw on and off from exponential distributions with these means, instead of keeping them constant", "ns-2.35 tools/expoo.cc has exponential ones";
    }
}

/// The multiple of the mean on period that counts as a burst. One in twenty exponential periods is longer (e^-3).
const BURST: f64 = 3.0;

state! {
    pub Cbr(parameters: Arc<CbrParameters>, setup: SourceSetup) {
        parameters: Arc<CbrParameters> = parameters,
        address: Address = setup.address,
        gap: Duration = gap(&parameters),
        random: Random = stream(&setup, Purpose::Source),
        on_off: Option<OnOff> = (parameters.off > Duration::ZERO).then(|| OnOff::new(stream(&setup, Purpose::OnOff), &parameters)),
        next_number: u64,
        /// Bytes still to be sent, `None` if unlimited.
        remaining: Option<u64> = setup.size,
        pacing_deadline: Time = Time::NEVER,
        bytes_delivered: u64,
        delays: DelayProbe,
        statistics: SenderStatistics,
    }
}

impl Cbr {
    /// The same with packets at this interval, which need be no whole number of bits at the rate.
    pub(super) fn every(self, interval: Duration) -> Cbr {
        Cbr { gap: interval, ..self }
    }

    /// The delays of the packets that arrived in the measuring window: [`DelayProbe::counts`].
    pub(super) fn delay_counts(&self) -> Vec<(f64, u64)> {
        self.delays.counts()
    }

    /// Sends a packet and schedules the next, if any.
    fn emit(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let full = self.parameters.packet_size.0;
        let size = self.remaining.map_or(full, |remaining| remaining.min(full));
        outbox.push(Packet {
            number: self.next_number,
            stamp: now,
            flow: self.address.flow,
            hop: self.address.first_hop,
            options: OptionsHandle::NONE,
            size: size as u16,
            flags: flags::DATA,
        });
        self.next_number += 1;
        self.statistics.segments_sent += 1;
        self.remaining = self.remaining.map(|remaining| remaining - size);
        self.pacing_deadline = if self.remaining == Some(0) { Time::NEVER } else { now + self.next_gap() };
    }

    fn next_gap(&mut self) -> Duration {
        let gap = if self.parameters.poisson { self.random.exponential(self.gap) } else { self.gap };
        match &mut self.on_off {
            None => gap,
            Some(on_off) => on_off.stretch(gap, &self.parameters),
        }
    }
}

/// The on and off periods. Gaps elapse only during on periods, so that an off period costs no packets beyond its own
/// duration.
#[derive(Debug)]
struct OnOff {
    random: Random,
    left: Duration,
}

impl OnOff {
    fn new(mut random: Random, parameters: &CbrParameters) -> OnOff {
        let left = period(parameters.on, &mut random, parameters);
        OnOff { random, left }
    }

    /// The duration of a gap including the off periods within it. A packet due at the end of an on period is sent at
    /// the start of the next.
    fn stretch(&mut self, mut gap: Duration, parameters: &CbrParameters) -> Duration {
        let mut stretched = gap;
        while gap >= self.left {
            gap = gap - self.left;
            stretched = stretched + period(parameters.off, &mut self.random, parameters);
            self.left = period(parameters.on, &mut self.random, parameters);
        }
        self.left = self.left - gap;
        stretched
    }
}

fn stream(setup: &SourceSetup, purpose: Purpose) -> Random {
    Random::stream(setup.seed, purpose, u64::from(setup.address.flow))
}

fn period(mean: Duration, random: &mut Random, parameters: &CbrParameters) -> Duration {
    if parameters.exponential { random.exponential(mean) } else { mean }
}

fn gap(parameters: &CbrParameters) -> Duration {
    parameters.rate.transmission_time(parameters.packet_size.0)
}

about! { Cbr:
    name: "cbr",
    title: "constant bit rate",
    class: "rate",
    year: 1997,
    source: "ns-2.35 Application/Traffic/CBR and Exponential (tools/expoo.cc)",
    deviations: "random gaps are exponential, where ns-2's are uniform; on-times are not rounded to whole packets: a \
                 gap cut short at the end of one continues in the next, so that the mean rate is rate * on / (on + \
                 off)",
}

impl Source for Cbr {
    type Parameters = CbrParameters;

    const ONE_WAY: bool = true;

    const UNRESPONSIVE: bool = true;

    const RANDOM_IF: &'static [&'static str] = &["poisson", "exponential"];

    fn check(parameters: &CbrParameters) -> Result<(), String> {
        // On periods too short for a packet would only cost simulation time.
        if parameters.off > Duration::ZERO && parameters.on < gap(parameters) {
            return Err(format!(
                "on: {} s is shorter than the gap of {} s between packets at this rate and packet_size",
                parameters.on.seconds(),
                gap(parameters).seconds()
            ));
        }
        Ok(())
    }

    fn offered(parameters: &CbrParameters) -> Option<Offered> {
        let (on, off) = (parameters.on.seconds(), parameters.off.seconds());
        let (share, burst) = if off > 0.0 { (on / (on + off), BURST * on) } else { (1.0, 0.0) };
        let rate = parameters.rate.0 as f64;
        let average = Rate((rate * share).ceil() as u64);
        Some(Offered { packet: parameters.packet_size, average, burst: (rate * burst) as u64 })
    }
}

impl RateBased for Cbr {
    fn start(&mut self, now: Time, outbox: &mut Vec<Packet>, _options: &mut OptionsPool) {
        self.emit(now, outbox);
    }

    fn stop(&mut self) -> bool {
        std::mem::replace(&mut self.pacing_deadline, Time::NEVER) != Time::NEVER
    }

    fn pacing_deadline(&self) -> Time {
        self.pacing_deadline
    }

    fn on_pacing_timer(&mut self, now: Time, outbox: &mut Vec<Packet>, _options: &mut OptionsPool) {
        self.emit(now, outbox);
    }

    fn on_data(&mut self, packet: &Packet, now: Time, _options: &mut OptionsPool) -> Option<Packet> {
        self.bytes_delivered += u64::from(packet.size);
        self.delays.record(now.since(packet.stamp));
        None
    }

    fn delivered(&self) -> u64 {
        self.bytes_delivered
    }

    fn statistics(&self) -> &SenderStatistics {
        &self.statistics
    }

    fn delays(&self) -> Option<DelayStatistics> {
        self.delays.statistics()
    }

    fn open_window(&mut self) {
        self.statistics = SenderStatistics::default();
        self.delays.open_window();
    }
}
