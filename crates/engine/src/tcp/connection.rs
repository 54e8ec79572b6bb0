//! A TCP connection: the sender at one host and the receiver at the other.

use std::sync::Arc;

use crate::packet::{AckOptions, Block, OptionsHandle, OptionsPool, Packet, flags};
use crate::tcp::congestion::Needs;
use crate::tcp::offload::{Offload, Run};
use crate::tcp::profile::StackProfile;
use crate::tcp::receiver::{Receiver, ReceiverProfile, Response, Segment};
use crate::tcp::scoreboard::FIRST_DATA;
use crate::tcp::sender::{Acknowledgement, Address, Sender};
use crate::time::{Duration, Time};

/// Divisor of the round-trip time that gives the maximum delay of an acknowledgement of data above a gap (Linux
/// tcp_input.c, __tcp_ack_snd_check). That of the handshake stands for the receiver's estimate.
const COMPRESSION_SHARE: u64 = 20;

/// Both ends of a connection.
#[derive(Debug)]
pub struct Connection {
    /// The receiver.
    pub receiver: Receiver,
    profile: Arc<StackProfile>,
    /// The start of the path of acknowledgements.
    return_address: Address,
    /// Whether the sender requests one-way delays.
    reports_delay: bool,
    /// Whether the sender requests load factors.
    reports_load: bool,
    /// Segments that wait for others before they reach the receiver; none if none ever do.
    offload: Option<Box<Offload>>,
    /// Whether segments need more than the receiver: load factors or an offload.
    is_special: bool,
    /// Maximum delay of acknowledgements of data above a gap, known since the handshake.
    sack_compression: Duration,
    /// The sender.
    pub sender: Sender,
}

impl Connection {
    /// Creates a connection that is not yet open.
    pub fn new(sender: Sender, profile: Arc<StackProfile>, return_address: Address) -> Connection {
        let Needs { one_way_delay: reports_delay, load_factor: reports_load, .. } = sender.needs();
        let offload =
            (profile.receive_offload > Duration::ZERO).then(|| Box::new(Offload::new(profile.receive_offload)));
        Connection {
            receiver: Receiver::new(FIRST_DATA, &profile.receiver(reports_delay)),
            is_special: reports_load || offload.is_some(),
            offload,
            profile,
            return_address,
            reports_delay,
            reports_load,
            sack_compression: Duration::ZERO,
            sender,
        }
    }

    fn receiver_profile(&self) -> ReceiverProfile {
        ReceiverProfile {
            load_factor: self.reports_load,
            sack_compression: self.sack_compression,
            ..self.profile.receiver(self.reports_delay)
        }
    }

    /// Payload bytes delivered to the receiving application so far.
    pub fn delivered(&self) -> u64 {
        self.receiver.delivered(FIRST_DATA)
    }

    /// Payload bytes received so far, each counted once.
    pub fn received(&self) -> u64 {
        self.receiver.received(FIRST_DATA)
    }

    /// Processes a data packet or the SYN at the receiver. Returns its response, if any.
    #[inline(always)]
    pub fn on_data(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        if packet.has(flags::SYN) {
            self.receiver.on_syn(now, &self.receiver_profile());
            return Some(self.reply(0, packet.stamp, self.profile.syn_size(), flags::SYN | flags::ACK));
        }
        let fin = packet.has(flags::FIN);
        let payload = u64::from(packet.size) - self.profile.segment_overhead();
        let segment = Segment {
            block: Block { start: packet.number, end: packet.number + payload + u64::from(fin) },
            fin,
            stamp: packet.stamp,
            marked: packet.is_marked(),
            window_reduced: packet.has(flags::WINDOW_REDUCED),
            load_factor: None,
        };
        if self.is_special {
            return self.on_special(segment, packet, now, options);
        }
        self.receive(segment, now, options)
    }

    /// The same of a segment that carries a load factor or waits for others.
    #[inline(never)]
    fn on_special(
        &mut self,
        segment: Segment,
        packet: &Packet,
        now: Time,
        options: &mut OptionsPool,
    ) -> Option<Packet> {
        let segment = Segment { load_factor: packet.load_factor().filter(|_| self.reports_load), ..segment };
        let Some(offload) = &mut self.offload else {
            return self.receive(segment, now, options);
        };
        let run = offload.take(segment, now);
        self.receiver.ack_deadline = offload.ack_deadline;
        let answer = run.and_then(|run| self.receive_run(&run, now, options));
        self.await_run();
        answer
    }

    /// Segments reach the receiver as one.
    fn receive_run(&mut self, run: &Run, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        self.receiver.expect(run.count - 1, &run.segment, &self.receiver_profile());
        self.receive(run.segment, now, options)
    }

    /// The receiver's timer also stands for that of the segments that wait.
    fn await_run(&mut self) {
        if let Some(offload) = &mut self.offload {
            offload.ack_deadline = self.receiver.ack_deadline;
            self.receiver.ack_deadline = offload.ack_deadline.min(offload.due());
        }
    }

    #[inline(always)]
    fn receive(&mut self, segment: Segment, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        match self.receiver.on_segment(segment, now, &self.receiver_profile()) {
            Response::Acknowledge => Some(self.acknowledge_with(None, now, options)),
            Response::AcknowledgeDuplicate(block) => Some(self.acknowledge_with(Some(block), now, options)),
            Response::Delay => None,
        }
    }

    /// Processes an acknowledgement at the sender.
    #[inline(always)]
    pub fn on_ack(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool, outbox: &mut Vec<Packet>) {
        if packet.has(flags::SYN) {
            self.sack_compression =
                self.profile.sack_compression.min(Duration(now.since(packet.stamp).0 / COMPRESSION_SHARE));
            self.sender.on_syn_ack(packet.stamp, now, outbox);
        } else {
            let ack = Acknowledgement {
                number: packet.number,
                echo: packet.stamp,
                echoes_congestion: packet.has(flags::ECN_ECHO),
                options: options.get(packet.options).unwrap_or(&AckOptions::NONE),
            };
            self.sender.on_ack(&ack, now, outbox);
        }
        options.release(packet.options);
    }

    /// The receiver's timer expires. Returns its response, if any.
    pub fn on_receiver_timer(&mut self, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        let Some(offload) = &mut self.offload else {
            return self.acknowledge_if_due(now, options);
        };
        let run = offload.take_due(now);
        self.receiver.ack_deadline = offload.ack_deadline;
        let answer = match run {
            Some(run) => self.receive_run(&run, now, options),
            None => self.acknowledge_if_due(now, options),
        };
        self.await_run();
        answer
    }

    /// The delayed acknowledgement whose time has come, unless the host's timers are later.
    fn acknowledge_if_due(&mut self, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        let profile = self.receiver_profile();
        self.receiver.is_due(now, &profile).then(|| self.acknowledge(now, options))
    }

    /// The pending delayed acknowledgement.
    pub fn acknowledge(&mut self, now: Time, options: &mut OptionsPool) -> Packet {
        self.acknowledge_with(None, now, options)
    }

    fn acknowledge_with(&mut self, duplicate: Option<Block>, now: Time, pool: &mut OptionsPool) -> Packet {
        let mut options = self.receiver.on_ack_sent(duplicate, &self.receiver_profile());
        options.sent = (self.reports_delay && self.profile.timestamps).then_some(now);
        let size = self.profile.ack_size(options.sacks.as_slice().len());
        let echo = if self.receiver.echoes_congestion() { flags::ECN_ECHO } else { 0 };
        let mut ack = self.reply(self.receiver.rcv_nxt(), self.receiver.echo(), size, flags::ACK | echo);
        ack.options = pool.put(options);
        ack
    }

    fn reply(&self, number: u64, echo: Time, size: u64, flags: u8) -> Packet {
        Packet {
            number,
            stamp: echo,
            flow: self.return_address.flow,
            hop: self.return_address.first_hop,
            options: OptionsHandle::NONE,
            size: size as u16,
            flags: flags | self.profile.ecn_of_control(),
        }
    }
}
