//! One end of a connection: the states of RFC 9293 section 3.3.2 over the engine's sender and receiver, as a host with one socket has
//! them. It is a state machine without a clock.

mod handshake;
mod information;
mod push;

use std::sync::Arc;

use sojourn_engine::packet::{AckOptions, Block, Packet, SackBlocks, flags};
use sojourn_engine::tcp::congestion::{Algorithm, CongestionControl};
use sojourn_engine::tcp::profile::{DefaultKind, StackProfile};
use sojourn_engine::tcp::receiver::{self, Receiver, ReceiverProfile, Response};
use sojourn_engine::tcp::scoreboard::FIRST_DATA;
use sojourn_engine::tcp::sender::{self, Acknowledgement, Address, Sender};
use sojourn_engine::tcp::slow_start::SlowStartKind;
use sojourn_engine::time::{Duration, Time};

use crate::host::{Host, Missing};
use crate::script::{Ecn, Segment, TcpOption};

use handshake::Offer;
pub use information::constant;
use push::Pusher;

/// The states of a connection (RFC 9293 section 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for a SYN.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has answered a SYN.
    SynReceived,
    /// Open.
    Established,
    /// Has sent a FIN.
    FinWait1,
    /// Its FIN is acknowledged.
    FinWait2,
    /// Has received a FIN.
    CloseWait,
    /// Has sent a FIN and received one that did not acknowledge it.
    Closing,
    /// Has received a FIN and then sent one.
    LastAck,
    /// Both ends have closed, this one first.
    TimeWait,
    /// There is no connection.
    Closed,
}

/// A segment that an end sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When.
    pub at: Time,
    /// What.
    pub segment: Segment,
}

/// An end of a connection.
pub struct Endpoint {
    /// The state.
    pub state: State,
    host: Host,
    /// What this end offers in its SYN.
    offer: Offer,
    /// What both ends have agreed to, once the other's SYN has arrived.
    agreed: Offer,
    stream: Option<Stream>,
    pusher: Pusher,
    /// When the latest SYN or its answer left.
    syn_sent: Time,
    /// When the first segment left, from which timestamps count, and their value then.
    first_sent: Option<Time>,
    timestamp_base: u32,
    /// The other end's latest timestamp.
    echo: u32,
    /// Bytes that the application has read.
    read: u64,
    /// Whether the application still reads and still writes.
    is_reading: bool,
    is_writing: bool,
    sent: Vec<Sent>,
}

/// Both directions of an open connection.
struct Stream {
    profile: Arc<StackProfile>,
    sender: Sender,
    receiver: Receiver,
    receiver_profile: ReceiverProfile,
    /// Whether the other end's FIN has arrived, with all data before it.
    has_ended: bool,
}

impl Endpoint {
    /// An end that listens.
    pub fn listening(host: Host, timestamp_base: u32) -> Endpoint {
        Endpoint::new(host, timestamp_base, State::Listen)
    }

    /// An end that connects now.
    ///
    /// # Errors
    ///
    /// What the host lacks.
    pub fn connecting(host: Host, timestamp_base: u32, now: Time) -> Result<Endpoint, Missing> {
        let mut end = Endpoint::new(host, timestamp_base, State::SynSent);
        let mut stream = end.new_stream()?;
        stream.sender.open(now, &mut Vec::new());
        end.stream = Some(stream);
        end.send_syn(now);
        Ok(end)
    }

    fn new(host: Host, timestamp_base: u32, state: State) -> Endpoint {
        let offer = Offer::of(&host);
        Endpoint {
            state,
            pusher: Pusher::new(&host),
            offer,
            agreed: offer,
            host,
            stream: None,
            syn_sent: Time::ZERO,
            first_sent: None,
            timestamp_base,
            echo: 0,
            read: 0,
            is_reading: true,
            is_writing: true,
            sent: Vec::new(),
        }
    }

    /// Takes what has been sent since this was last asked.
    pub fn take_sent(&mut self) -> Vec<Sent> {
        std::mem::take(&mut self.sent)
    }

    /// The next time at which a timer expires.
    pub fn deadline(&self) -> Time {
        self.stream.as_ref().map_or(Time::NEVER, |stream| {
            stream.sender.deadline().min(stream.sender.pacing_deadline()).min(stream.receiver.ack_deadline)
        })
    }

    /// Handles the expiry of a timer.
    pub fn on_timer(&mut self, now: Time) {
        let Some(stream) = &mut self.stream else { return };
        let mut outbox = Vec::new();
        if stream.sender.pacing_deadline() <= now {
            stream.sender.on_pacing_timer(now, &mut outbox);
        } else if stream.sender.deadline() <= now {
            stream.sender.on_timer(now, &mut outbox);
        } else if stream.receiver.is_due(now, &stream.receiver_profile) {
            return self.acknowledge(None, now);
        }
        if outbox.iter().any(|packet| packet.has(flags::SYN)) {
            return self.send_syn(now);
        }
        self.send_data(&outbox, now);
    }

    /// The stack and the congestion control that both ends have agreed to.
    fn new_stream(&self) -> Result<Stream, Missing> {
        let profile = self.agreed.profile(&self.host)?;
        let name = self.host.sysctl("congestion_control").unwrap_or("cubic");
        let name = if name == "reno" { "newreno" } else { name };
        let mut parameters = serde_json::Map::new();
        let linux = StackProfile::named().into_iter().find(|profile| profile.name == "linux-6");
        for default in linux.into_iter().flat_map(|linux| linux.defaults) {
            if default.algorithm == name && default.kind == DefaultKind::Control {
                parameters.insert(default.parameter.to_owned(), default.value);
            }
        }
        let algorithm = Algorithm::new(name, &serde_json::Value::Object(parameters))
            .map_err(|_| Missing(format!("net.ipv4.tcp_congestion_control={name}")))?;
        let slow_start = if name == "cubic" { SlowStartKind::HyStart } else { SlowStartKind::Standard };
        let profile = Arc::new(profile.adapted_to(&algorithm.needs()));
        let receiver_profile = profile.receiver(false);
        let address = Address { flow: 0, first_hop: 0 };
        let sender = Sender::new(address, Arc::clone(&profile), algorithm, slow_start, None).with_stream();
        let receiver = Receiver::new(FIRST_DATA, &receiver_profile);
        Ok(Stream { profile, sender, receiver, receiver_profile, has_ended: false })
    }

    /// The application writes. Returns whether it may.
    pub fn write(&mut self, bytes: u64, now: Time) -> bool {
        if !self.is_writing || !matches!(self.state, State::Established | State::CloseWait) {
            return false;
        }
        if let Some(stream) = &mut self.stream
            && bytes > 0
        {
            let mut outbox = Vec::new();
            stream.sender.write(bytes, now, &mut outbox);
            self.pusher.on_write(stream.sender.written());
            self.send_data(&outbox, now);
        }
        true
    }

    /// Bytes that have arrived and that the application has not read.
    pub fn unread(&self) -> u64 {
        self.stream.as_ref().map_or(0, |stream| stream.receiver.delivered(FIRST_DATA)) - self.read
    }

    /// Whether no more bytes will arrive.
    pub fn has_ended(&self) -> bool {
        !self.is_reading || self.stream.as_ref().is_some_and(|stream| stream.has_ended)
    }

    /// The application reads. Returns how many bytes.
    pub fn read(&mut self, most: u64) -> u64 {
        let bytes = self.unread().min(most);
        self.read += bytes;
        bytes
    }

    /// The application reads no more.
    pub fn stop_reading(&mut self) {
        self.is_reading = false;
    }

    /// The application writes no more: a FIN follows what it has written.
    pub fn stop_writing(&mut self, now: Time) {
        if !self.is_writing {
            return;
        }
        self.is_writing = false;
        self.state = match self.state {
            State::Established | State::SynReceived => State::FinWait1,
            State::CloseWait => State::LastAck,
            _ => State::Closed,
        };
        let Some(stream) = self.stream.as_mut().filter(|_| self.state != State::Closed) else { return };
        let mut outbox = Vec::new();
        stream.sender.close(now, &mut outbox);
        self.send_data(&outbox, now);
    }

    /// The application closes the socket. What it has not read is lost, which the other end is told by a reset (RFC 2525 section
    /// 2.17).
    pub fn close(&mut self, now: Time) {
        if self.unread() > 0 {
            let number = self.pusher.next();
            self.state = State::Closed;
            let options = self.timestamp_option(now);
            self.send(now, "R.", (number, number), Some(options));
            self.stream = None;
            return;
        }
        self.stop_writing(now);
    }

    /// Sends segments of data as the sender has made them.
    fn send_data(&mut self, outbox: &[Packet], now: Time) {
        let Some(stream) = &mut self.stream else { return };
        if outbox.is_empty() {
            return;
        }
        let overhead = stream.profile.segment_overhead();
        let options = stream.receiver.acknowledge(None, &stream.receiver_profile);
        let pushes = self.pusher.pushes(stream, outbox);
        for (packet, pushed) in outbox.iter().zip(pushes) {
            let Some(stream) = &self.stream else { return };
            if !packet.has(flags::DATA) {
                // A probe of the window has the sequence number before what is awaited (RFC 9293 section 3.8.6.1).
                let number = self.pusher.next() - 1;
                self.send_with(now, ".", (number, number), &options);
                continue;
            }
            let first = FIRST_DATA + stream.sender.payload_below(packet.number);
            let payload = u64::from(packet.size).saturating_sub(overhead);
            let fin = if packet.has(flags::FIN) { "F" } else { "" };
            let push = if pushed && payload > 0 { "P" } else { "" };
            let reduced = if packet.has(flags::WINDOW_REDUCED) { "W" } else { "" };
            self.send_with(now, &format!("{fin}{push}{reduced}."), (first, first + payload), &options);
            let ecn = ecn_of(packet);
            if let Some(sent) = self.sent.last_mut() {
                sent.segment.ecn = Some(ecn);
            }
        }
    }

    fn acknowledge(&mut self, duplicate: Option<Block>, now: Time) {
        let Some(stream) = &mut self.stream else { return };
        let options = stream.receiver.acknowledge(duplicate, &stream.receiver_profile);
        let number = self.pusher.next();
        self.send_with(now, ".", (number, number), &options);
    }

    fn send_with(&mut self, now: Time, letters: &str, range: (u64, u64), options: &AckOptions) {
        let blocks: Vec<_> =
            options.sacks.as_slice().iter().map(|block| (block.start as u32, block.end as u32)).collect();
        let mut listed = self.timestamp_option(now);
        if !blocks.is_empty() {
            listed.extend([TcpOption::NoOperation, TcpOption::NoOperation, TcpOption::Sack(blocks)]);
        }
        self.send(now, letters, range, Some(listed));
    }

    /// The option of RFC 7323 section 3.2, padded as Linux does, if both ends use it.
    fn timestamp_option(&mut self, now: Time) -> Vec<TcpOption> {
        if !self.agreed.timestamps {
            return Vec::new();
        }
        vec![TcpOption::NoOperation, TcpOption::NoOperation, TcpOption::Timestamp(self.timestamp(now), self.echo)]
    }

    fn timestamp(&mut self, now: Time) -> u32 {
        let since = now.since(*self.first_sent.get_or_insert(now));
        self.timestamp_base.wrapping_add((since.0 / Duration::from_milliseconds(1).0) as u32)
    }

    fn send(&mut self, now: Time, letters: &str, (first, last): (u64, u64), options: Option<Vec<TcpOption>>) {
        let acknowledgement = self.stream.as_ref().map(|stream| stream.receiver.rcv_nxt() as u32);
        let echoes = self.stream.as_ref().is_some_and(|stream| stream.receiver.echoes_congestion());
        let segment = Segment {
            flags: if echoes { format!("E{letters}") } else { letters.to_owned() },
            ecn: Some(Ecn::None),
            sequence: (first as u32, last as u32, (last - first) as u32),
            acknowledgement: acknowledgement.filter(|_| letters.contains('.')),
            options,
            ..Segment::default()
        };
        self.sent.push(Sent { at: now, segment });
    }

    /// Processes a segment that the other end sent.
    ///
    /// # Errors
    ///
    /// What the host lacks.
    pub fn on_segment(&mut self, segment: &Segment, now: Time) -> Result<(), Missing> {
        let has = |letter| segment.flags.contains(letter);
        match self.state {
            State::Listen if has('S') && !has('.') => return self.on_syn(segment, now),
            State::Listen => return Ok(()),
            State::Closed => {
                if !has('R') {
                    self.reset(segment, now);
                }
                return Ok(());
            }
            State::SynSent => return self.on_syn_answer(segment, now),
            _ => {}
        }
        if has('R') {
            self.state = State::Closed;
            if let Some(stream) = &mut self.stream {
                stream.sender.stop(now);
            }
            return Ok(());
        }
        if has('S') && self.state == State::SynReceived {
            self.send_syn(now);
            return Ok(());
        }
        if !has('.') {
            return Ok(());
        }
        // RFC 9293 section 3.10.7.4: what acknowledges data that was never sent is dropped.
        let next = self.pusher.next();
        if segment.acknowledgement.is_none_or(|number| u64::from(number) > next) {
            return Ok(());
        }
        self.on_acknowledgement(segment, now);
        self.on_data(segment, now);
        Ok(())
    }

    /// RFC 9293 section 3.10.7.1: there is no connection.
    fn reset(&mut self, segment: &Segment, now: Time) {
        let (first, last, _) = segment.sequence;
        let syn_or_fin = segment.flags.chars().filter(|letter| matches!(letter, 'S' | 'F')).count() as u32;
        let (letters, number, acknowledgement) = match segment.acknowledgement {
            Some(number) => ("R", number, None),
            None => ("R.", 0, Some(last.max(first) + syn_or_fin)),
        };
        let reset = Segment {
            flags: letters.to_owned(),
            sequence: (number, number, 0),
            acknowledgement,
            options: Some(Vec::new()),
            ..Segment::default()
        };
        self.sent.push(Sent { at: now, segment: reset });
    }

    fn on_acknowledgement(&mut self, segment: &Segment, now: Time) {
        let Some(number) = segment.acknowledgement.map(u64::from) else { return };
        if self.state == State::SynReceived {
            self.establish(now);
        }
        let echo = self.echoed(segment);
        let Some(stream) = &mut self.stream else { return };
        let mut sacks = SackBlocks::default();
        for option in segment.options.iter().flatten() {
            if let TcpOption::Sack(blocks) = option {
                for (start, end) in blocks {
                    let place = |number: &u32| stream.sender.sequence_of(u64::from(*number) - FIRST_DATA);
                    sacks.push(Block { start: place(start), end: place(end) });
                }
            }
        }
        let options = AckOptions { sacks, ..AckOptions::default() };
        let acknowledgement = Acknowledgement {
            number: stream.sender.sequence_of(number - FIRST_DATA),
            echo,
            echoes_congestion: segment.flags.contains('E'),
            options: &options,
        };
        let mut outbox = Vec::new();
        let window = u64::from(segment.window.unwrap_or(u16::MAX)) << self.agreed.scale.unwrap_or(0);
        let has_options = !sacks.as_slice().is_empty();
        let only_window = segment.sequence.2 == 0
            && stream.sender.on_window(acknowledgement.number, window, has_options, now, &mut outbox);
        if !only_window {
            stream.sender.on_ack(&acknowledgement, now, &mut outbox);
        }
        let is_complete = stream.sender.state() == sender::State::Completed;
        self.send_data(&outbox, now);
        if is_complete {
            self.state = match self.state {
                State::FinWait1 => State::FinWait2,
                State::Closing => State::TimeWait,
                State::LastAck => State::Closed,
                state => state,
            };
        }
    }

    /// When the timestamp that a segment echoes was sent.
    fn echoed(&self, segment: &Segment) -> Time {
        let echoes = segment.options.iter().flatten().find_map(|option| match option {
            TcpOption::Timestamp(_, echo) => Some(echo.wrapping_sub(self.timestamp_base)),
            _ => None,
        });
        let first = self.first_sent.unwrap_or(Time::ZERO);
        echoes.map_or(Time::ZERO, |ticks| first + Duration::from_milliseconds(u64::from(ticks)))
    }

    fn on_data(&mut self, segment: &Segment, now: Time) {
        let (first, last, length) = segment.sequence;
        let fin = segment.flags.contains('F');
        let Some(stream) = &mut self.stream else { return };
        for option in segment.options.iter().flatten() {
            if let TcpOption::Timestamp(value, _) = option
                && u64::from(first) <= stream.receiver.rcv_nxt()
            {
                self.echo = *value;
            }
        }
        if length == 0 && !fin {
            return;
        }
        let block = Block { start: u64::from(first), end: u64::from(last) + u64::from(fin) };
        let taken = receiver::Segment {
            block,
            fin,
            stamp: now,
            marked: segment.ecn == Some(Ecn::Ce),
            window_reduced: segment.flags.contains('W'),
            load_factor: None,
        };
        let response = stream.receiver.on_segment(taken, now, &stream.receiver_profile);
        let has_ended = fin && stream.receiver.rcv_nxt() == block.end;
        match response {
            Response::Acknowledge => self.acknowledge(None, now),
            Response::AcknowledgeDuplicate(block) => self.acknowledge(Some(block), now),
            Response::Delay => {}
        }
        if let Some(stream) = self.stream.as_mut().filter(|stream| has_ended && !stream.has_ended) {
            stream.has_ended = true;
            self.state = match self.state {
                State::Established => State::CloseWait,
                State::FinWait1 => State::Closing,
                State::FinWait2 => State::TimeWait,
                state => state,
            };
        }
    }
}

fn ecn_of(packet: &Packet) -> Ecn {
    match (packet.has(flags::ECT_0), packet.has(flags::ECT_1)) {
        (true, true) => Ecn::Ce,
        (true, false) => Ecn::Ect0,
        (false, true) => Ecn::Ect1,
        (false, false) => Ecn::None,
    }
}
