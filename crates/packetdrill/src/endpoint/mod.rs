//! One end of a connection: the states of RFC 9293 section 3.3.2 over the engine's sender and receiver, as a host with one socket has
//! them. It is a state machine without a clock.

mod accurate_ecn;
mod activity;
mod flight;
mod handshake;
mod information;
mod push;
mod writing;

use std::sync::Arc;

use sojourn_engine::packet::{AckOptions, Block, Packet, SackBlocks, flags};
use sojourn_engine::tcp::congestion::{Algorithm, CongestionControl};
use sojourn_engine::tcp::profile::{DefaultKind, StackProfile};
use sojourn_engine::tcp::receiver::{self, Receiver, ReceiverProfile, Response};
use sojourn_engine::tcp::scoreboard::FIRST_DATA;
use sojourn_engine::tcp::sender::{self, Acknowledgement, Address, Sender};
use sojourn_engine::tcp::slow_start::SlowStartKind;
use sojourn_engine::time::{Duration, Time};

use crate::host::{Coalescing, Host, Missing};
use crate::script::{Ecn, Segment, TcpOption};

use accurate_ecn::AccurateEcn;
pub use accurate_ecn::ace;
use activity::Activity;
use flight::Flight;
use handshake::{MSS, Offer};
pub use information::constant;
use push::Pusher;
pub use writing::Write;
use writing::Writing;

/// The states of a connection (RFC 9293 section 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
    Closed,
}

/// A segment that an end sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub at: Time,
    pub segment: Segment,
}

/// An end of a connection.
pub struct Endpoint {
    pub state: State,
    host: Host,
    /// What this end offers in its SYN.
    offer: Offer,
    /// What both ends have agreed to, once the other's SYN has arrived.
    agreed: Offer,
    stream: Option<Stream>,
    pusher: Pusher,
    writing: Writing,
    coalescing: Coalescing,
    activity: Activity,
    flight: Flight,
    accurate_ecn: Option<AccurateEcn>,
    /// Whether the next acknowledgement ends a handshake.
    reflects: bool,
    /// SYNs sent, and whether one was no answer.
    syns: u32,
    has_asked: bool,
    /// When the next SYN leaves, while none is answered.
    syn_due: Time,
    /// Whether the application has closed the socket.
    is_orphan: bool,
    /// Whether closing resets the connection: `SO_LINGER` without a time to linger.
    pub resets: bool,
    /// How long the application lets data be sent again, and since when they are.
    pub user_timeout: Option<Duration>,
    retried_at: Option<Time>,
    /// The error that ended the connection.
    pub error: Option<&'static str>,
    /// The greatest acknowledgement number that arrived.
    acknowledged: u64,
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
    pub fn listening(host: Host, timestamp_base: u32) -> Endpoint {
        Endpoint::new(host, timestamp_base, State::Listen)
    }

    /// An end that connects now.
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
            writing: Writing::default(),
            coalescing: host.coalescing,
            activity: Activity::default(),
            flight: Flight::default(),
            accurate_ecn: None,
            reflects: false,
            syns: 0,
            has_asked: false,
            syn_due: Time::NEVER,
            is_orphan: false,
            resets: false,
            user_timeout: None,
            retried_at: None,
            error: None,
            acknowledged: 0,
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

    pub fn set_host(&mut self, host: &Host) {
        self.host = host.clone();
    }

    /// Takes what has been sent since this was last asked.
    pub fn take_sent(&mut self) -> Vec<Sent> {
        std::mem::take(&mut self.sent)
    }

    /// The next time at which a timer expires.
    pub fn deadline(&self) -> Time {
        if self.state == State::SynSent {
            return self.syn_due;
        }
        self.stream.as_ref().map_or(Time::NEVER, |stream| {
            let timers =
                stream.sender.deadline().min(stream.sender.pacing_deadline()).min(stream.receiver.ack_deadline);
            timers.min(self.writing.deadline()).min(self.gives_up_at())
        })
    }

    pub fn on_timer(&mut self, now: Time) {
        if self.state == State::SynSent {
            return self.on_syn_timeout(now);
        }
        if self.gives_up_at() <= now {
            return self.end(Some("ETIMEDOUT"), now);
        }
        if self.writing.deadline() <= now {
            return self.release_all(now);
        }
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
        let retries = self.stream.as_ref().map_or(0, |stream| stream.sender.info().retries);
        if retries > 0 {
            self.retried_at.get_or_insert(now);
        }
        self.send_data(&outbox, now);
    }

    /// When what is sent again has been so for as long as the application allows: `TCP_USER_TIMEOUT` (Linux tcp_timer.c,
    /// retransmits_timed_out).
    fn gives_up_at(&self) -> Time {
        match (self.retried_at, self.user_timeout) {
            (Some(since), Some(timeout)) if self.state != State::Closed => since + timeout,
            _ => Time::NEVER,
        }
    }

    /// The stack and the congestion control that both ends have agreed to.
    fn new_stream(&self) -> Result<Stream, Missing> {
        let mut profile = self.agreed.profile(&self.host)?;
        let has_option = self.accurate_ecn.as_ref().is_some_and(AccurateEcn::sends_option);
        if has_option && self.host.number("ecn_option") >= Some(2) {
            profile.segment_size.0 -= accurate_ecn::PADDED;
        }
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

    /// Bytes that have arrived and that the application has not read.
    pub fn unread(&self) -> u64 {
        self.stream.as_ref().map_or(0, |stream| stream.receiver.delivered(FIRST_DATA)) - self.read
    }

    /// Whether what has not been read fills the buffer, as far as its size is known: `SO_RCVBUF`.
    fn is_full(&self) -> bool {
        self.host.receive_buffer.is_some_and(|buffer| self.unread() >= buffer)
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

    pub fn stop_reading(&mut self) {
        self.is_reading = false;
    }

    /// The application writes no more: a FIN follows what it has written.
    pub fn stop_writing(&mut self, now: Time) {
        if !self.is_writing {
            return;
        }
        self.is_writing = false;
        self.release_all(now);
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
        self.is_orphan = true;
        if self.unread() > 0 || self.resets && !matches!(self.state, State::Listen | State::SynSent | State::Closed) {
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
        // Cards do not know Accurate ECN's field.
        let is_cut_late = self.host.segmentation_offload && self.accurate_ecn.is_none();
        let pushes = self.pusher.pushes(stream, outbox, is_cut_late);
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
            let is_full = payload == stream.profile.segment_size.0;
            let fin = if packet.has(flags::FIN) { "F" } else { "" };
            let push = if pushed && payload > 0 { "P" } else { "" };
            let reduced = if packet.has(flags::WINDOW_REDUCED) { "W" } else { "" };
            self.send_with(now, &format!("{fin}{push}{reduced}."), (first, first + payload), &options);
            if payload > 0 {
                self.writing.on_sent(first + payload, is_full);
                self.activity.sent_at = now;
            }
            self.flight.on_sent(first, first + payload);
            if self.accurate_ecn.is_some() {
                continue;
            }
            let ecn = if payload > 0 { ecn_of(packet) } else { Ecn::None };
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
        let mut blocks: Vec<_> =
            options.sacks.as_slice().iter().map(|block| (block.start as u32, block.end as u32)).collect();
        let mut listed = self.timestamp_option(now);
        let srtt = self.stream.as_ref().and_then(|stream| stream.sender.info().srtt).unwrap_or(0.0);
        let (wanted, beacons) = (self.host.number("ecn_option").unwrap_or(2), self.host.number("ecn_option_beacon"));
        if let Some(state) = &mut self.accurate_ecn {
            let since = now.since(state.option_sent()).seconds();
            let is_due = beacons.is_some_and(|beacons| beacons > 0 && since * beacons as f64 >= srtt);
            let before = if self.agreed.timestamps { 12 } else { 0 };
            if let Some((option, fitting)) = state.option(before, blocks.len(), (wanted, is_due), now) {
                blocks.truncate(fitting);
                listed.extend(option);
            }
        }
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
        // The state TIME-WAIT of Linux keeps no account of marks.
        let is_past = self.is_orphan && self.state == State::FinWait2;
        let feedback = match &self.accurate_ecn {
            _ if is_past => String::new(),
            Some(state) if self.reflects => accurate_ecn::letters(accurate_ecn::reflection(state.handshake)),
            Some(state) => accurate_ecn::letters(state.ace()),
            None if echoes => "E".to_owned(),
            None => String::new(),
        };
        let is_capable = self.accurate_ecn.as_ref().is_some_and(|state| !state.is_altered);
        let segment = Segment {
            flags: format!("{feedback}{letters}"),
            ecn: Some(if is_capable { Ecn::Ect0 } else { Ecn::None }),
            sequence: (first as u32, last as u32, (last - first) as u32),
            acknowledgement: acknowledgement.filter(|_| letters.contains('.')),
            window: self.is_full().then_some(0),
            options,
            ..Segment::default()
        };
        self.sent.push(Sent { at: now, segment });
    }

    /// Processes a segment that the other end sent.
    pub fn on_segment(&mut self, segment: &Segment, now: Time) -> Result<(), Missing> {
        let has = |letter| segment.flags.contains(letter);
        match self.state {
            State::Listen if has('S') && !has('.') && !has('R') => return self.on_syn(segment, now),
            // RFC 9293 section 3.10.7.2: a listener resets what acknowledges something.
            State::Listen => {
                if has('.') && !has('R') {
                    self.reset(segment, now);
                }
                return Ok(());
            }
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
            self.end(Some("ECONNRESET"), now);
            return Ok(());
        }
        if has('S') && self.state == State::SynReceived && !has('.') {
            self.on_syn_again(segment, now);
            return Ok(());
        }
        if has('S') && has('.') && self.has_asked {
            self.on_syn_answer_again(segment, now);
            return Ok(());
        }
        if !has('.') {
            return Ok(());
        }
        // RFC 9293 section 3.10.7.4: what acknowledges data that was never sent is dropped.
        let next = self.pusher.next();
        if segment.acknowledgement.is_some_and(|number| u64::from(number) > next) {
            return Ok(());
        }
        let is_checked = self.checks_ecn();
        let is_third = self.state == State::SynReceived;
        let changes = self.accurate_ecn.as_mut().is_some_and(|state| {
            if is_third {
                state.on_third(segment, is_checked);
            }
            state.on_arrival(segment)
        });
        self.on_acknowledgement(segment, now);
        self.release(now);
        self.on_data(segment, changes, now);
        self.note_activity(now);
        Ok(())
    }

    /// The connection ends at once.
    fn end(&mut self, error: Option<&'static str>, now: Time) {
        self.state = State::Closed;
        self.error = error;
        if let Some(stream) = &mut self.stream {
            stream.sender.stop(now);
        }
    }

    /// RFC 9293 section 3.10.7.1: there is no connection.
    fn reset(&mut self, segment: &Segment, now: Time) {
        let (first, last, _) = segment.sequence;
        let syn_or_fin = segment.flags.chars().filter(|letter| matches!(letter, 'S' | 'F')).count() as u32;
        let acknowledges = segment.flags.contains('.');
        let (letters, number, acknowledgement) = match segment.acknowledgement.unwrap_or(0) {
            number if acknowledges => ("R", number, None),
            _ => ("R.", 0, Some(last.max(first) + syn_or_fin)),
        };
        let reset = Segment {
            flags: letters.to_owned(),
            sequence: (number, number, 0),
            acknowledgement,
            window: Some(0),
            options: Some(Vec::new()),
            ..Segment::default()
        };
        self.sent.push(Sent { at: now, segment: reset });
    }

    fn on_acknowledgement(&mut self, segment: &Segment, now: Time) {
        let Some(number) = segment.acknowledgement.map(u64::from).filter(|number| *number >= FIRST_DATA) else {
            return;
        };
        if number > self.acknowledged {
            (self.acknowledged, self.retried_at) = (number, None);
        }
        self.activity.acknowledged_at = now;
        let is_third = self.state == State::SynReceived;
        if is_third {
            self.establish(now);
        }
        let echo = self.echoed(segment);
        let Some(stream) = &mut self.stream else { return };
        let mut sacks = SackBlocks::default();
        for option in segment.options.iter().flatten() {
            if let TcpOption::Sack(blocks) = option {
                for (start, end) in blocks {
                    let place = |number: &u32| stream.sender.sequence_of(u64::from(*number).saturating_sub(FIRST_DATA));
                    sacks.push(Block { start: place(start), end: place(end) });
                }
            }
        }
        let newer =
            segment.options.iter().flatten().any(
                |option| matches!(option, TcpOption::Timestamp(value, _) if value.wrapping_sub(self.echo) as i32 > 0),
            );
        let mss = stream.profile.segment_size.0;
        let delivered = self.flight.on_acknowledgement(segment, mss);
        let marks = self.accurate_ecn.as_mut().map(|state| match is_third {
            true => state.delivered().0,
            false => state.on_acknowledgement(segment, delivered, newer, mss),
        });
        let options = AckOptions { sacks, marks, ..AckOptions::default() };
        let acknowledgement = Acknowledgement {
            number: stream.sender.sequence_of(number - FIRST_DATA),
            echo,
            echoes_congestion: marks.is_none() && segment.flags.contains('E'),
            options: &options,
        };
        let mut outbox = Vec::new();
        let window = u64::from(segment.window.unwrap_or(u16::MAX)) << self.agreed.scale.unwrap_or(0);
        self.pusher.on_window(window);
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

    /// Data arrive; `changes` if their ECN field is another than before, which Accurate ECN reports at once.
    fn on_data(&mut self, segment: &Segment, changes: bool, now: Time) {
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
        self.activity.received_at = now;
        let whole = self.host.mss_of_arrivals.unwrap_or(u64::from(MSS)).min(u64::from(length));
        self.activity.largest_arrival = self.activity.largest_arrival.max(whole);
        // Linux tcp_input.c, tcp_rcv_state_process: nobody will read it.
        let is_late = matches!(self.state, State::FinWait1 | State::FinWait2 | State::Closing | State::LastAck);
        if self.is_orphan && is_late && length > 0 {
            self.reset(segment, now);
            self.end(None, now);
            return;
        }
        let is_shut = self.is_full();
        let Some(stream) = &mut self.stream else { return };
        let block = Block { start: u64::from(first), end: u64::from(last) + u64::from(fin) };
        let taken = receiver::Segment {
            block,
            fin,
            stamp: now,
            marked: segment.ecn == Some(Ecn::Ce),
            window_reduced: segment.flags.contains('W'),
            load_factor: None,
        };
        if let Some(state) = self.accurate_ecn.as_mut().filter(|_| block.end <= stream.receiver.rcv_nxt()) {
            state.on_repeated(first);
        }
        let response = stream.receiver.on_segment(taken, now, &stream.receiver_profile);
        let has_ended = fin && stream.receiver.rcv_nxt() == block.end;
        // The acknowledgement of a FIN waits for what this end answers, if data had arrived (Linux tcp_input.c, tcp_fin; tcp_output.c,
        // tcp_send_delayed_ack), but not with a window that is shut, into which some send FINs again and again (tcp_data_queue).
        let waits = has_ended
            && !is_shut
            && self.state == State::Established
            && stream.receiver.delivered(FIRST_DATA) > u64::from(length)
            && u64::from(length) < stream.profile.segment_size.0;
        match response {
            Response::Acknowledge if waits => {
                stream.receiver.ack_deadline = now + stream.receiver_profile.delayed_ack_timeout;
            }
            Response::Acknowledge => self.acknowledge(None, now),
            Response::AcknowledgeDuplicate(block) => self.acknowledge(Some(block), now),
            Response::Delay if changes => self.acknowledge(None, now),
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
