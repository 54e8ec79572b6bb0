//! TFRC, TCP-Friendly Rate Control: RFC 5348.

mod equation;
mod intervals;
mod losses;
mod parameters;
mod receiver;
mod sender;

use std::sync::Arc;

use super::{RateBased, Source, SourceSetup, WindowSample};
use crate::packet::{Options, OptionsHandle, OptionsPool, Packet, flags};
use crate::tcp::profile::StackProfile;
use crate::tcp::sender::{Address, SenderStatistics};
use crate::time::Time;
use receiver::{Data, Feedback, Receiver};
use sender::Sender;

pub use parameters::TfrcParameters;

state! {
    pub Tfrc(parameters: Arc<TfrcParameters>, setup: SourceSetup) {
        receiver: Receiver = Receiver::new(setup.profile.segment_size.0, &parameters),
        sender: Sender = Sender::new(setup.profile.segment_size.0, parameters),
        profile: Arc<StackProfile> = setup.profile,
        address: Address = setup.address,
        return_address: Address = setup.return_address.expect("a source that is not one-way is given a way back"),
        /// Bytes still to be sent, `None` if unlimited.
        remaining: Option<u64> = setup.size,
        next: u64,
    }
}

impl Tfrc {
    fn send(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool) {
        let full = self.profile.segment_size.0;
        let payload = self.remaining.map_or(full, |remaining| remaining.min(full));
        outbox.push(Packet {
            number: self.next,
            stamp: now,
            flow: self.address.flow,
            hop: self.address.first_hop,
            options: self.sender.rtt().map_or(OptionsHandle::NONE, |rtt| options.put(Options::RoundTripTime(rtt))),
            size: (payload + self.profile.segment_overhead()) as u16,
            flags: flags::DATA | self.profile.ecn_of_data(),
        });
        self.next += 1;
        self.remaining = self.remaining.map(|remaining| remaining - payload);
        self.sender.on_sent(now, self.remaining == Some(0));
    }

    fn feedback(&self, feedback: Option<Feedback>, options: &mut OptionsPool) -> Option<Packet> {
        let (report, stamp) = feedback?;
        Some(Packet {
            number: 0,
            stamp,
            flow: self.return_address.flow,
            hop: self.return_address.first_hop,
            options: options.put(Options::Report(report)),
            size: self.profile.ack_size(0) as u16,
            flags: flags::ACK | self.profile.ecn_of_control(),
        })
    }
}

about! { Tfrc:
    name: "tfrc",
    title: "TCP-Friendly Rate Control",
    class: "rate",
    year: 2008,
    source: "RFC 5348",
    deviations: "no connection set-up and no retransmissions; headers are those of the stack's TCP; the application \
                 always has data, so the sender is never data-limited or idle; a packet counted as lost stays lost, \
                 even if it arrives late (section 5.1 allows undoing this); the nofeedback timer is set for the new \
                 rate, as in Linux ccid3.c, not for the previous one",
}

impl Source for Tfrc {
    type Parameters = TfrcParameters;

    const ONE_WAY: bool = false;

    const UNRESPONSIVE: bool = false;
}

impl RateBased for Tfrc {
    fn start(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool) {
        self.sender.start(now);
        self.send(now, outbox, options);
    }

    fn stop(&mut self) -> bool {
        self.sender.stop()
    }

    fn pacing_deadline(&self) -> Time {
        self.sender.pacing_deadline
    }

    fn on_pacing_timer(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool) {
        self.send(now, outbox, options);
    }

    fn deadline(&self) -> Time {
        self.sender.deadline
    }

    fn on_deadline(&mut self, now: Time) {
        self.sender.on_deadline(now);
    }

    fn on_answer(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) {
        if let Some(Options::Report(report)) = options.take(packet.options) {
            self.sender.on_feedback(&report, packet.stamp, now);
        }
    }

    fn on_data(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        let rtt = match options.take(packet.options) {
            Some(Options::RoundTripTime(rtt)) => Some(rtt),
            _ => None,
        };
        let data = Data {
            number: packet.number,
            payload: u64::from(packet.size) - self.profile.segment_overhead(),
            stamp: packet.stamp,
            rtt,
            marked: packet.is_marked(),
        };
        let feedback = self.receiver.on_data(&data, now);
        self.feedback(feedback, options)
    }

    fn answer_deadline(&self) -> Time {
        self.receiver.deadline
    }

    fn on_answer_deadline(&mut self, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        let feedback = self.receiver.on_deadline(now);
        self.feedback(feedback, options)
    }

    fn delivered(&self) -> u64 {
        self.receiver.delivered
    }

    fn statistics(&self) -> &SenderStatistics {
        &self.sender.statistics
    }

    fn open_window(&mut self) {
        self.sender.statistics = SenderStatistics::default();
    }

    fn sample(&self) -> Option<WindowSample> {
        let rtt = self.sender.rtt()?;
        let window = (self.sender.allowed_rate() * rtt.seconds()) as u64;
        Some(WindowSample { window, rtt: self.sender.latest_rtt() })
    }
}
