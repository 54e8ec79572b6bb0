//! The handshake, and what both ends agree to in it.

use sojourn_engine::tcp::ecn::EcnKind;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::recovery::RecoveryKind;
use sojourn_engine::tcp::scoreboard::FIRST_DATA;
use sojourn_engine::time::Time;
use sojourn_engine::units::Bytes;

use super::{Endpoint, State};
use crate::host::{Host, Missing};
use crate::script::{Segment, TcpOption};

/// The payload that a link of 1500 bytes leaves (RFC 9293 section 3.7.1).
const MSS: u16 = 1460;
/// Of an end that does not say (RFC 9293 section 3.7.1, MUST-15).
const DEFAULT_MSS: u16 = 536;
/// The scale of the window with a receive buffer of 15 MiB, as scripts have it: Linux tcp_output.c, tcp_select_initial_window.
const WINDOW_SCALE: u8 = 8;

/// What an end says of itself in its SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Greatest payload.
    pub mss: u16,
    /// Scale of its window.
    pub scale: Option<u8>,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// Explicit congestion notification.
    pub ecn: bool,
}

impl Offer {
    /// What a host offers.
    pub fn of(host: &Host) -> Offer {
        let is_on = |name| host.number(name) != Some(0);
        Offer {
            mss: host.mss.map_or(MSS, |mss| mss as u16),
            scale: Some(WINDOW_SCALE),
            sack: is_on("sack"),
            timestamps: is_on("timestamps"),
            ecn: is_on("ecn"),
        }
    }

    /// What a SYN offers.
    fn in_syn(segment: &Segment) -> Offer {
        let mut offer =
            Offer { mss: DEFAULT_MSS, scale: None, sack: false, timestamps: false, ecn: segment.flags.contains('E') };
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
            ecn: self.ecn && other.ecn,
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
        if self.ecn {
            profile.ecn = EcnKind::Classic;
        }
        let options = if self.timestamps { 12 } else { 0 };
        profile.segment_size = Bytes(u64::from(self.mss) - options);
        profile.pacing_burst = 1;
        profile.pacing = host.paces;
        if !self.sack {
            profile.recovery = RecoveryKind::NewReno;
        }
        Ok(profile)
    }

    /// The options of a SYN or its answer, in Linux's order and padding: tcp_output.c, tcp_options_write.
    fn options(&self, timestamp: Option<(u32, u32)>) -> Vec<TcpOption> {
        let mut options = vec![TcpOption::MaximumSegmentSize(self.mss)];
        match (timestamp, self.sack) {
            (Some((value, echo)), true) => {
                options.extend([TcpOption::SackPermitted, TcpOption::Timestamp(value, echo)])
            }
            (Some((value, echo)), false) => {
                options.extend([TcpOption::NoOperation, TcpOption::NoOperation, TcpOption::Timestamp(value, echo)]);
            }
            (None, true) => options.extend([TcpOption::NoOperation, TcpOption::NoOperation, TcpOption::SackPermitted]),
            (None, false) => {}
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
        self.note_timestamp(segment);
        let mut stream = self.new_stream()?;
        stream.sender.open_passively(now);
        stream.sender.open_receive_window(segment.window.map_or(0, u64::from));
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
            return Err(Missing("simultaneous open".to_owned()));
        }
        self.agreed = self.offer.and(Offer::in_syn(segment));
        self.note_timestamp(segment);
        let mut stream = self.new_stream()?;
        stream.sender.open_passively(self.syn_sent);
        stream.sender.open_receive_window(segment.window.map_or(0, u64::from));
        stream.receiver.on_syn(self.syn_sent, now, &stream.receiver_profile);
        self.stream = Some(stream);
        self.establish(now);
        self.acknowledge(None, now);
        Ok(())
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
        let options = said.options(timestamp);
        // RFC 3168 section 6.1.1. A host that only accepts does not ask.
        let asks = self.host.number("ecn") == Some(1);
        let flags = match (is_answer, said.ecn) {
            (true, true) => "SE.",
            (true, false) => "S.",
            (false, true) if asks => "SEW",
            (false, _) => "S",
        };
        let segment = Segment {
            flags: flags.to_owned(),
            acknowledgement: is_answer.then_some(FIRST_DATA as u32),
            options: Some(options),
            ..Segment::default()
        };
        self.sent.push(super::Sent { at: now, segment });
    }
}
