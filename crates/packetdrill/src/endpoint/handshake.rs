//! The handshake, and what both ends agree to in it.

use sojourn_engine::tcp::ecn::EcnKind;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::recovery::RecoveryKind;
use sojourn_engine::tcp::scoreboard::FIRST_DATA;
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Bytes;

use super::accurate_ecn::{self, AccurateEcn, Feedback};
use super::{Endpoint, State};
use crate::host::{Host, Missing, scale_of};
use crate::script::{Ecn, Segment, TcpOption};

/// The payload that a link of 1500 bytes leaves (RFC 9293 section 3.7.1).
pub const MSS: u16 = 1460;
/// Of an end that does not say (RFC 9293 section 3.7.1, MUST-15).
const DEFAULT_MSS: u16 = 536;
/// When a SYN is sent again (RFC 6298 (2.1)).
const FIRST_TIMEOUT: Duration = Duration::from_seconds(1);

/// What an end says of itself in its SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Greatest payload.
    pub mss: u16,
    /// Scale of its window.
    pub scale: Option<u8>,
    pub sack: bool,
    pub timestamps: bool,
    pub ecn: Feedback,
}

/// What an end asks for in its SYN, by net.ipv4.tcp_ecn (Linux include/net/tcp_ecn.h, enum tcp_ecn_mode).
fn asked(host: &Host) -> Feedback {
    match host.number("ecn") {
        Some(1 | 4) => Feedback::Classic,
        Some(3) => Feedback::Accurate,
        _ => Feedback::Off,
    }
}

/// The most that an end accepts of a SYN that asks, likewise.
fn accepted(host: &Host) -> Feedback {
    match host.number("ecn") {
        Some(1 | 2) => Feedback::Classic,
        Some(3..=5) => Feedback::Accurate,
        _ => Feedback::Off,
    }
}

impl Offer {
    pub fn of(host: &Host) -> Offer {
        let is_on = |name| host.number(name) != Some(0);
        Offer {
            mss: host.mss.map_or(MSS, |mss| mss as u16),
            scale: (host.number("window_scaling") != Some(0)).then_some(match host.receive_buffer {
                Some(buffer) => scale_of(buffer / 2),
                None => host.window_scale,
            }),
            sack: is_on("sack"),
            timestamps: is_on("timestamps"),
            ecn: asked(host),
        }
    }

    fn in_syn(segment: &Segment) -> Offer {
        let ecn = Feedback::Off;
        let mut offer = Offer { mss: DEFAULT_MSS, scale: None, sack: false, timestamps: false, ecn };
        for option in segment.options.iter().flatten() {
            match option {
                TcpOption::MaximumSegmentSize(size) => offer.mss = *size,
                TcpOption::WindowScale(scale) => offer.scale = Some(*scale),
                TcpOption::SackPermitted => offer.sack = true,
                TcpOption::Timestamp(..) => offer.timestamps = true,
                _ => {}
            }
        }
        offer
    }

    /// What both offer.
    fn and(self, other: Offer) -> Offer {
        Offer {
            mss: self.mss.min(other.mss),
            scale: self.scale.and(other.scale),
            sack: self.sack && other.sack,
            timestamps: self.timestamps && other.timestamps,
            ecn: Feedback::Off,
        }
    }

    /// The stack that follows from the agreement: `linux-6`, as the sysctls change it.
    pub fn profile(&self, host: &Host) -> Result<StackProfile, Missing> {
        let Some(mut profile) = StackProfile::of_name("linux-6") else {
            return Err(Missing("linux-6".to_owned()));
        };
        profile.timestamps = self.timestamps;
        profile.sack = self.sack;
        profile.duplicate_sack = self.sack && host.number("dsack") != Some(0);
        profile.ecn = match self.ecn {
            Feedback::Off => profile.ecn,
            Feedback::Classic => EcnKind::Classic,
            Feedback::Accurate => EcnKind::Accurate,
        };
        let options = if self.timestamps { 12 } else { 0 };
        profile.segment_size = Bytes(u64::from(self.mss) - options);
        profile.maximum_rto = host.longest_timeout().unwrap_or(profile.maximum_rto);
        profile.pacing_burst = 1;
        profile.pacing = host.paces;
        profile.send_offload = host.paces;
        if !self.sack {
            profile.recovery = RecoveryKind::LinuxNewReno;
        }
        Ok(profile)
    }

    /// The options of a SYN or its answer, in Linux's order and padding: tcp_output.c, tcp_options_write.
    fn options(&self, timestamp: Option<(u32, u32)>, counts: bool) -> Vec<TcpOption> {
        let mut options = vec![TcpOption::MaximumSegmentSize(self.mss)];
        match (timestamp, self.sack) {
            (Some((value, echo)), true) => {
                options.extend([TcpOption::SackPermitted, TcpOption::Timestamp(value, echo)])
            }
            (Some((value, echo)), false) => {
                options.extend([TcpOption::NoOperation, TcpOption::NoOperation, TcpOption::Timestamp(value, echo)]);
            }
            (None, _) => {}
        }
        if counts {
            options.extend(accurate_ecn::first_option());
        }
        if timestamp.is_none() && self.sack {
            options.extend([TcpOption::NoOperation, TcpOption::NoOperation, TcpOption::SackPermitted]);
        }
        if let Some(scale) = self.scale {
            options.extend([TcpOption::NoOperation, TcpOption::WindowScale(scale)]);
        }
        options
    }
}

impl Endpoint {
    /// A SYN arrives at an end that listens.
    pub(super) fn on_syn(&mut self, segment: &Segment, now: Time) -> Result<(), Missing> {
        if segment.sequence.2 > 0 {
            return Err(Missing("data in a SYN (TCP Fast Open)".to_owned()));
        }
        self.agreed = self.offer.and(Offer::in_syn(segment));
        self.agree_on_ecn_of_syn(segment);
        self.note_timestamp(segment);
        let mut stream = self.new_stream()?;
        stream.sender.open_passively(now);
        let window = segment.window.map_or(0, u64::from);
        stream.sender.open_receive_window(window);
        self.pusher.on_window(window);
        stream.receiver.on_syn(now, now, &stream.receiver_profile);
        self.stream = Some(stream);
        self.state = State::SynReceived;
        self.send_syn(now);
        Ok(())
    }

    /// A segment arrives at an end that has sent a SYN.
    pub(super) fn on_syn_answer(&mut self, segment: &Segment, now: Time) -> Result<(), Missing> {
        let has = |letter| segment.flags.contains(letter);
        if has('R') {
            self.state = State::Closed;
            return Ok(());
        }
        if !has('S') {
            return Ok(());
        }
        if !has('.') {
            return self.on_syn(segment, now); // Simultaneous open: RFC 9293 section 3.5, figure 7.
        }
        self.agreed = self.offer.and(Offer::in_syn(segment));
        self.agree_on_ecn_of_answer(segment);
        self.note_timestamp(segment);
        let mut stream = self.new_stream()?;
        stream.sender.open_passively(self.syn_sent);
        let window = segment.window.map_or(0, u64::from);
        stream.sender.open_receive_window(window);
        self.pusher.on_window(window);
        stream.receiver.on_syn(self.syn_sent, now, &stream.receiver_profile);
        self.stream = Some(stream);
        self.establish(now);
        self.acknowledge_handshake(now);
        Ok(())
    }

    /// RFC 9768 section 3.1.2: a SYN with any flags but those of classic ECN asks for Accurate ECN.
    fn agree_on_ecn_of_syn(&mut self, segment: &Segment) {
        let wanted = match accurate_ecn::ace(segment) {
            0 => Feedback::Off,
            0b011 => Feedback::Classic,
            _ => Feedback::Accurate,
        };
        // Of an end that asked itself, no more than that: simultaneous open.
        let most = if self.state == State::SynSent { self.offer.ecn } else { accepted(&self.host) };
        let is_classic = segment.flags.contains('E') && segment.flags.contains('W');
        self.agreed.ecn = match (wanted, most) {
            (Feedback::Off, _) | (_, Feedback::Off) => Feedback::Off,
            (Feedback::Accurate, Feedback::Accurate) => Feedback::Accurate,
            _ if is_classic => Feedback::Classic,
            _ => Feedback::Off,
        };
        self.note_ecn_of_syn(segment);
    }

    /// The other end's SYN arrives again. One that asks for less than Accurate ECN shows that the flags do not arrive (RFC 9768
    /// section 3.1.5).
    pub(super) fn on_syn_again(&mut self, segment: &Segment, now: Time) {
        self.note_ecn_of_syn(segment);
        if let Some(state) = self.accurate_ecn.as_mut().filter(|_| accurate_ecn::ace(segment) == 0) {
            state.is_altered = true;
        }
        self.send_syn(now);
    }

    /// The answer to the SYN does not come.
    pub(super) fn on_syn_timeout(&mut self, now: Time) {
        if u64::from(self.syns) > self.host.number("syn_retries").unwrap_or(0) {
            self.state = State::Closed;
            self.error = Some("ETIMEDOUT");
            return;
        }
        self.send_syn(now);
    }

    fn note_ecn_of_syn(&mut self, segment: &Segment) {
        if self.agreed.ecn == Feedback::Accurate {
            let field = segment.ecn.unwrap_or(Ecn::None);
            match &mut self.accurate_ecn {
                Some(state) => state.handshake = field,
                None => self.accurate_ecn = Some(AccurateEcn::new(field)),
            }
        }
    }

    /// RFC 9768 section 3.1.1, Table 2, and section 3.1.3 of the reserved combination.
    fn agree_on_ecn_of_answer(&mut self, segment: &Segment) {
        self.agreed.ecn = match (self.offer.ecn, accurate_ecn::ace(segment)) {
            (Feedback::Accurate, 0b010..=0b110) => Feedback::Accurate,
            (Feedback::Accurate | Feedback::Classic, 0b001) => Feedback::Classic,
            _ => Feedback::Off,
        };
        self.note_ecn_of_syn(segment);
        let is_checked = self.checks_ecn();
        if let Some(state) = &mut self.accurate_ecn {
            state.on_syn_answer(segment, is_checked);
        }
    }

    /// Whether packets are no longer ECN-capable if the handshake shows that something alters them.
    pub(super) fn checks_ecn(&self) -> bool {
        self.host.number("ecn_fallback") != Some(0)
    }

    /// The answer to this end's SYN arrives again, or later than its own SYN.
    pub(super) fn on_syn_answer_again(&mut self, segment: &Segment, now: Time) {
        if self.state == State::SynReceived {
            let is_checked = self.checks_ecn();
            if let Some(state) = &mut self.accurate_ecn {
                state.on_syn_answer(segment, is_checked);
            }
            self.establish(now);
        }
        self.note_ecn_of_syn(segment);
        self.acknowledge_handshake(now);
    }

    /// The last segment of the handshake, which tells the ECN field of the one before.
    fn acknowledge_handshake(&mut self, now: Time) {
        self.reflects = true;
        self.acknowledge(None, now);
        self.reflects = false;
    }

    fn note_timestamp(&mut self, segment: &Segment) {
        for option in segment.options.iter().flatten() {
            if let TcpOption::Timestamp(value, _) = option {
                self.echo = *value;
            }
        }
    }

    pub(super) fn establish(&mut self, now: Time) {
        self.state = State::Established;
        self.activity.received_at = now;
        let Some(stream) = &mut self.stream else { return };
        let mut outbox = Vec::new();
        stream.sender.on_syn_ack(self.syn_sent, now, &mut outbox);
        self.send_data(&outbox, now);
    }

    /// Sends the SYN, or the answer to the other end's.
    pub(super) fn send_syn(&mut self, now: Time) {
        self.syn_sent = now;
        let is_answer = self.state == State::SynReceived;
        let said = if is_answer {
            Offer {
                mss: self.offer.mss,
                scale: self.offer.scale.filter(|_| self.agreed.scale.is_some()),
                ..self.agreed
            }
        } else {
            self.offer
        };
        let timestamp = said.timestamps.then(|| (self.timestamp(now), if is_answer { self.echo } else { 0 }));
        let repeats = self.syns;
        self.syns += 1;
        // A path that drops what it does not know gets less with each attempt: RFC 3168 section 6.1.1.1, RFC 9768 section 3.1.4.
        let patience = if said.ecn == Feedback::Accurate { 1 } else { 0 };
        let simultaneous = if is_answer && self.has_asked { 2 } else { 0 };
        let asks = repeats <= patience + simultaneous || is_answer && said.ecn == Feedback::Classic;
        let value = match (said.ecn, is_answer, &self.accurate_ecn) {
            _ if !asks => 0,
            (Feedback::Off, _, _) => 0,
            (Feedback::Classic, true, _) => 0b001,
            (Feedback::Classic, false, _) => 0b011,
            (Feedback::Accurate, true, Some(state)) => accurate_ecn::reflection(state.handshake),
            (Feedback::Accurate, _, _) => 0b111,
        };
        let counts = is_answer
            && said.ecn == Feedback::Accurate
            && repeats <= simultaneous
            && self.host.number("ecn_option") != Some(0);
        let options = said.options(timestamp, counts);
        self.has_asked |= !is_answer;
        let doublings = u64::from(repeats).saturating_sub(self.host.number("syn_linear_timeouts").unwrap_or(0)).min(16);
        let timeout = Duration(FIRST_TIMEOUT.0 << doublings);
        self.syn_due = now + self.host.longest_timeout().map_or(timeout, |longest| timeout.min(longest));
        let segment = Segment {
            flags: format!("S{}{}", accurate_ecn::letters(value), if is_answer { "." } else { "" }),
            ecn: Some(Ecn::None),
            acknowledgement: is_answer.then_some(FIRST_DATA as u32),
            window: self.host.receive_buffer.map(|buffer| {
                // Linux tcp_output.c, tcp_select_initial_window: half of the buffer, in whole segments.
                let room = buffer / 2;
                (room - room % u64::from(self.offer.mss)).min(u64::from(u16::MAX)) as u16
            }),
            options: Some(options),
            ..Segment::default()
        };
        self.sent.push(super::Sent { at: now, segment });
    }
}
