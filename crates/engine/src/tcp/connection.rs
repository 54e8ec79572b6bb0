//! A TCP connection: the sender at one host and the receiver at the other.

use std::collections::VecDeque;
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

/// Both ends of a connection. What a segment in order accesses comes first, up to the first fields of the receiver: in a [`Flow`]
/// it takes two cache lines.
///
/// [`Flow`]: crate::simulation::flow::Flow
#[derive(Debug)]
#[repr(C)]
pub struct Connection {
    profile: Arc<StackProfile>,
    /// The receiver's settings, which connections share.
    receiver_profile: Arc<ReceiverProfile>,
    /// The start of the path of acknowledgements.
    return_address: Address,
    reports_delay: bool,
    reports_load: bool,
    /// Whether segments need more than the receiver: load factors, an offload, a reader, or an application that reads slowly.
    is_special: bool,
    /// Whether acknowledgements carry the receive window.
    advertises: bool,
    /// Whether the first SYN that arrived asked for ECN.
    agrees_on_ecn: Option<bool>,
    /// ECN bits of acknowledgements.
    ecn_of_control: u8,
    /// Its maximum delay of acknowledgements of data above a gap is known since the handshake.
    pub receiver: Receiver,
    /// When a delayed acknowledgement is due, if the receiver's timer stands for other times too.
    ack_deadline: Time,
    /// Segments that wait for others before they reach the receiver; none if none ever do.
    offload: Option<Box<Offload>>,
    /// Only if an application writes the data over time.
    reader: Option<Box<Reader>>,
    pub sender: Sender,
}

/// The application at the receiving end, which is told when the last byte of a write has arrived, and the FIN. It is woken by the receiver's timer,
/// so that other connections need not look whether there is one.
#[derive(Debug)]
struct Reader {
    /// Sequence numbers after the writes that have not arrived.
    awaited: VecDeque<u64>,
    /// Whether the SYN has arrived and the application does not know it.
    has_syn: bool,
    /// Whether the application knows of the FIN.
    knows_fin: bool,
    /// When it is to be told, `NEVER` if there is nothing to tell.
    due: Time,
    /// Bytes of payload that the receiver has acknowledged without having them.
    concealed: u64,
}

impl Default for Reader {
    fn default() -> Reader {
        Reader { awaited: VecDeque::new(), has_syn: false, knows_fin: false, due: Time::NEVER, concealed: 0 }
    }
}

impl Reader {
    /// Is due if there is something to tell.
    fn look(&mut self, receiver: &Receiver, now: Time) {
        let has_arrived = self.awaited.front().is_some_and(|end| *end <= receiver.rcv_nxt());
        if self.has_syn || has_arrived || receiver.has_fin() && !self.knows_fin {
            self.due = now;
        }
    }
}

impl Connection {
    /// The profile of the receiver is [that for the sender's needs](StackProfile::receiver_for).
    pub fn new(
        sender: Sender,
        profile: Arc<StackProfile>,
        receiver_profile: Arc<ReceiverProfile>,
        return_address: Address,
    ) -> Connection {
        let Needs { one_way_delay: reports_delay, load_factor: reports_load, .. } = sender.needs();
        let offload =
            (profile.receive_offload > Duration::ZERO).then(|| Box::new(Offload::new(profile.receive_offload)));
        let mut receiver = Receiver::new(FIRST_DATA, &receiver_profile);
        receiver.sack_compression = Duration::ZERO;
        Connection {
            receiver,
            is_special: reports_load || offload.is_some() || profile.reading_rate.0 > 0 || sender.has_stream(),
            reader: sender.has_stream().then(Box::default),
            advertises: receiver_profile.advertised.is_some(),
            agrees_on_ecn: None,
            ecn_of_control: profile.ecn_of_control(),
            ack_deadline: Time::NEVER,
            offload,
            profile,
            return_address,
            reports_delay,
            reports_load,
            receiver_profile,
            sender,
        }
    }

    /// Payload bytes delivered to the receiving application so far.
    pub fn delivered(&self) -> u64 {
        if let Some(reader) = &self.reader {
            return self.sender.payload_below(self.receiver.rcv_nxt()) - reader.concealed;
        }
        self.receiver.delivered(FIRST_DATA)
    }

    /// Payload bytes received so far, each counted once.
    pub fn received(&self) -> u64 {
        if self.reader.is_some() {
            return self.delivered();
        }
        self.receiver.received(FIRST_DATA)
    }

    /// Processes a data packet or the SYN at the receiver. Returns its response, if any.
    #[inline(always)]
    pub fn on_data(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        if packet.has(flags::SYN) {
            let window = self.receiver.on_syn(packet.stamp, now, &self.receiver_profile);
            let echo = self.agree_on_ecn(packet.has(flags::ECN_ECHO));
            self.announce_syn(now);
            let answer = self.reply(0, packet.stamp, self.profile.syn_size(), flags::SYN | flags::ACK | echo);
            return Some(Packet { options: window.map_or(OptionsHandle::NONE, OptionsHandle::of_window), ..answer });
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
        if packet.has(flags::PUSH) {
            self.receiver.on_push(packet.number);
        }
        if self.is_special {
            return self.on_special(segment, packet, now, options);
        }
        self.receive(segment, now, options)
    }

    /// The same of a segment that carries a load factor, waits for others, or is not read at once.
    #[inline(never)]
    fn on_special(
        &mut self,
        segment: Segment,
        packet: &Packet,
        now: Time,
        options: &mut OptionsPool,
    ) -> Option<Packet> {
        let mut segment = Segment { load_factor: packet.load_factor().filter(|_| self.reports_load), ..segment };
        let is_probe = segment.block.start == segment.block.end;
        if self.reader.is_some() && !is_probe {
            // In sequence space it is a full one: see `Sender::with_stream`.
            segment.block.end = segment.block.start + self.profile.segment_size.0 + u64::from(segment.fin);
        }
        self.receiver.ack_deadline = self.ack_deadline;
        self.receiver.read(now);
        let answer = if is_probe {
            self.receiver.on_probe(segment.stamp);
            Some(self.acknowledge(now, options))
        } else if let Some(offload) = &mut self.offload {
            offload.take(segment, now).and_then(|run| self.receive_run(&run, now, options))
        } else {
            self.note_concealed(&segment);
            self.receive(segment, now, options)
        };
        if let Some(reader) = &mut self.reader {
            reader.look(&self.receiver, now);
        }
        self.await_others();
        answer
    }

    /// Counts the payload that the receiver will conceal as it takes a segment.
    fn note_concealed(&mut self, segment: &Segment) {
        if let Some(reader) = &mut self.reader
            && self.receiver_profile.conceals_losses
            && segment.block.start > self.receiver.rcv_nxt()
        {
            let (arrives, expected) = (segment.block.start, self.receiver.rcv_nxt());
            reader.concealed += self.sender.payload_below(arrives) - self.sender.payload_below(expected);
        }
    }

    /// Segments reach the receiver as one.
    fn receive_run(&mut self, run: &Run, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        self.note_concealed(&run.segment);
        self.receiver.expect(run.count - 1, &run.segment, &self.receiver_profile);
        self.receive(run.segment, now, options)
    }

    /// The receiver's timer also stands for that of the segments that wait, for that of a larger window, and for the application's.
    fn await_others(&mut self) {
        self.ack_deadline = self.receiver.ack_deadline;
        let offload = self.offload.as_ref().map_or(Time::NEVER, |offload| offload.due());
        let reader = self.reader.as_ref().map_or(Time::NEVER, |reader| reader.due);
        self.receiver.ack_deadline = self.ack_deadline.min(offload).min(self.receiver.update_due()).min(reader);
    }

    #[inline(always)]
    fn receive(&mut self, segment: Segment, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        match self.receiver.on_segment(segment, now, &self.receiver_profile) {
            Response::Acknowledge => Some(self.acknowledge_with(None, now, options)),
            Response::AcknowledgeDuplicate(block) => Some(self.acknowledge_with(Some(block), now, options)),
            Response::Delay => None,
        }
    }

    #[inline(always)]
    pub fn on_ack(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool, outbox: &mut Vec<Packet>) {
        if packet.has(flags::SYN) {
            self.receiver.sack_compression =
                self.profile.compression().min(Duration(now.since(packet.stamp).0 / COMPRESSION_SHARE));
            if let Some(window) = options.window(packet.options) {
                self.sender.open_receive_window(window);
            }
            if !packet.has(flags::ECN_ECHO) {
                self.sender.go_without_ecn();
            }
            self.sender.on_syn_ack(packet.stamp, now, outbox);
        } else if !self.advertises || !self.take_window(packet, now, options, outbox) {
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

    /// Takes the window of an acknowledgement. Whether that is all it tells.
    #[inline(never)]
    fn take_window(&mut self, packet: &Packet, now: Time, options: &OptionsPool, outbox: &mut Vec<Packet>) -> bool {
        let Some(window) = options.window(packet.options) else { return false };
        self.sender.on_window(packet.number, window, packet.options.has_options(), now, outbox)
    }

    pub fn on_receiver_timer(&mut self, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        if !self.is_special {
            return self.acknowledge_if_due(now, options);
        }
        if let Some(reader) = &mut self.reader {
            reader.due = Time::NEVER;
        }
        let run = self.offload.as_mut().and_then(|offload| offload.take_due(now));
        let is_update = self.receiver.update_due() <= now;
        self.receiver.ack_deadline = self.ack_deadline;
        self.receiver.read(now);
        let answer = match run {
            Some(run) => {
                let answer = self.receive_run(&run, now, options);
                if let Some(reader) = &mut self.reader {
                    reader.look(&self.receiver, now);
                }
                answer
            }
            None if is_update => Some(self.acknowledge(now, options)),
            None if self.ack_deadline > now => None,
            None => self.acknowledge_if_due(now, options),
        };
        self.await_others();
        answer
    }

    /// The delayed acknowledgement whose time has come, unless the host's timers are later.
    fn acknowledge_if_due(&mut self, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        self.receiver.is_due(now, &self.receiver_profile).then(|| self.acknowledge(now, options))
    }

    /// The application at the sending end writes bytes, one at least. That at the other end is told when they have arrived.
    pub fn write(&mut self, bytes: u64, now: Time, outbox: &mut Vec<Packet>) {
        let end = self.sender.write(bytes, now, outbox);
        if let Some(reader) = &mut self.reader {
            reader.awaited.push_back(end);
        }
    }

    /// How many writes have arrived since this was last asked.
    pub fn take_arrived(&mut self) -> usize {
        let rcv_nxt = self.receiver.rcv_nxt();
        let Some(reader) = &mut self.reader else { return 0 };
        let arrived = reader.awaited.iter().take_while(|end| **end <= rcv_nxt).count();
        reader.awaited.drain(..arrived);
        arrived
    }

    /// Whether the FIN has arrived since this was last asked.
    pub fn take_fin(&mut self) -> bool {
        let has_fin = self.receiver.has_fin();
        self.reader.as_mut().is_some_and(|reader| !std::mem::replace(&mut reader.knows_fin, has_fin) && has_fin)
    }

    /// Whether a SYN has arrived since this was last asked.
    pub fn take_syn(&mut self) -> bool {
        self.reader.as_mut().is_some_and(|reader| std::mem::take(&mut reader.has_syn))
    }

    /// A SYN has arrived. What the first asked for holds, also for the answers to those that follow: Linux tcp_input.c,
    /// tcp_ecn_create_request. Returns the ECN-Echo of the answer.
    fn agree_on_ecn(&mut self, asks: bool) -> u8 {
        if *self.agrees_on_ecn.get_or_insert(asks) {
            return flags::ECN_ECHO;
        }
        self.ecn_of_control = 0;
        0
    }

    /// Whether the handshake does without ECN, as far as it is known at the receiver.
    pub fn lacks_ecn(&self) -> bool {
        self.agrees_on_ecn == Some(false)
    }

    /// The handshake of the other direction does without ECN, and so does this one.
    pub fn go_without_ecn(&mut self) {
        self.ecn_of_control = 0;
        self.sender.go_without_ecn();
    }

    /// The SYN opens this direction too, and the answer to it has arrived at this connection's receiver: the acknowledgement of that
    /// answer, which was sent at a time (RFC 9293 section 3.5).
    pub fn complete_handshake(&mut self, answered: Time, now: Time) -> Packet {
        let window = self.receiver.on_syn(answered, now, &self.receiver_profile);
        let echo = if self.sender.uses_ecn() { flags::ECN_ECHO } else { 0 };
        let answer = self.reply(0, answered, self.profile.ack_size(0), flags::SYN | flags::ACK | echo);
        Packet { options: window.map_or(OptionsHandle::NONE, OptionsHandle::of_window), ..answer }
    }

    /// The delayed acknowledgement that is pending, if one is: data that leave in the other direction take it along.
    pub fn acknowledge_pending(&mut self, now: Time, options: &mut OptionsPool) -> Option<Packet> {
        if self.ack_deadline == Time::NEVER || self.offload.is_some() {
            return None;
        }
        self.receiver.ack_deadline = self.ack_deadline;
        let pending = self.acknowledge(now, options);
        self.await_others();
        Some(pending)
    }

    #[cold]
    fn announce_syn(&mut self, now: Time) {
        if let Some(reader) = &mut self.reader {
            (reader.has_syn, reader.due) = (true, now);
            self.receiver.ack_deadline = self.ack_deadline;
            self.await_others();
        }
    }

    /// The pending delayed acknowledgement.
    pub fn acknowledge(&mut self, now: Time, options: &mut OptionsPool) -> Packet {
        self.acknowledge_with(None, now, options)
    }

    fn acknowledge_with(&mut self, duplicate: Option<Block>, now: Time, pool: &mut OptionsPool) -> Packet {
        let has_options = self.receiver.on_ack_sent() || duplicate.is_some() || self.reports_delay;
        let window = if self.advertises { self.receiver.advertise(now) } else { None };
        let (options, sacks) = if has_options {
            self.options(duplicate, window, now, pool)
        } else {
            (window.map_or(OptionsHandle::NONE, OptionsHandle::of_window), 0)
        };
        let size = self.profile.ack_size(sacks);
        let echo = if self.receiver.echoes_congestion() { flags::ECN_ECHO } else { 0 };
        let ack = self.reply(self.receiver.rcv_nxt(), self.receiver.echo(), size, flags::ACK | echo);
        Packet { options, ..ack }
    }

    /// The options of an acknowledgement that has others than a window, and its number of SACK blocks.
    #[inline(never)]
    fn options(
        &mut self,
        duplicate: Option<Block>,
        window: Option<u64>,
        now: Time,
        pool: &mut OptionsPool,
    ) -> (OptionsHandle, usize) {
        let mut sacks = 0;
        let handle = pool.put_ack(|options| {
            options.window = window;
            self.receiver.report(duplicate, &self.receiver_profile, options);
            if self.reports_delay && self.profile.timestamps {
                options.sent = Some(now);
            }
            sacks = options.sacks.as_slice().len();
        });
        (handle, sacks)
    }

    fn reply(&self, number: u64, echo: Time, size: u64, flags: u8) -> Packet {
        Packet {
            number,
            stamp: echo,
            flow: self.return_address.flow,
            hop: self.return_address.first_hop,
            options: OptionsHandle::NONE,
            size: size as u16,
            flags: flags | self.ecn_of_control,
        }
    }
}
