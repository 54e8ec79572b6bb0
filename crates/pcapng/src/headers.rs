//! A packet's headers as bytes.

use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};
use sojourn_engine::packet::{AckOptions, Options, Packet, SackBlocks, flags};
use sojourn_engine::probe::Passage;
use sojourn_engine::tcp::ecn::{Codepoint, EcnKind};
use sojourn_engine::tcp::profile::StackProfile;

/// As large as a packet of 65,535 bytes can be.
static PAYLOAD: [u8; 1 << 16] = [0; 1 << 16];

/// IPv4's header and TCP's with all options that fit.
pub const LARGEST_HEADERS: usize = 20 + TcpHeader::MAX_LEN;

const UDP_HEADERS: usize = Ipv4Header::MIN_LEN + UdpHeader::LEN;

/// What iperf 2 puts before the payload of a datagram, as a tool of the same purpose: a signed number and the sending time in s and
/// us, each of 32 bits (struct UDP_datagram of its payloads.h).
const DATAGRAM_NUMBER: usize = 12;

/// RFC 1122 section 3.2.1.7 leaves the choice; 64 is what RFC 1700 recommends. Simulated routers take none off.
const TIME_TO_LIVE: u8 = 64;

/// The largest window that needs no scale.
const LARGEST_WINDOW: u64 = 65_535;

/// RFC 9768 section 3.2.1: where the counter of the ACE field begins.
const FIRST_ACE: u64 = 5;

/// Where packets come from and go to.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub source: [u8; 4],
    pub source_port: u16,
    pub destination: [u8; 4],
    pub destination_port: u16,
    /// The codepoint of differentiated services, in both directions.
    pub dscp: u8,
}

impl Route {
    /// The way of the answers.
    pub fn reversed(self) -> Route {
        Route {
            source: self.destination,
            source_port: self.destination_port,
            destination: self.source,
            destination_port: self.source_port,
            dscp: self.dscp,
        }
    }
}

/// A packet as it is captured.
pub struct Frame {
    /// All headers, and what the payload begins with if it is not zeros.
    pub headers: Vec<u8>,
    /// How long it is with its payload.
    pub length: u16,
}

/// The address of a node, in the order of the specification: 10.0.0.1 and on.
pub fn address(node: usize) -> [u8; 4] {
    let [_, a, b, c] = (node as u32 + 1).to_be_bytes();
    [10, a, b, c]
}

fn frame(route: &Route, packet: &Packet, protocol: IpNumber, transport: &[u8], payload: u16) -> Frame {
    let mut ip = Ipv4Header {
        total_len: Ipv4Header::MIN_LEN_U16 + transport.len() as u16 + payload,
        // An atomic datagram: RFC 6864 section 4.1.
        dont_fragment: true,
        time_to_live: TIME_TO_LIVE,
        protocol,
        source: route.source,
        destination: route.destination,
        dscp: IpDscp::try_new(route.dscp).unwrap_or_default(),
        ecn: match (packet.flags & flags::ECT_0 != 0, packet.flags & flags::ECT_1 != 0) {
            (false, false) => IpEcn::NotEct,
            (false, true) => IpEcn::Ect1,
            (true, false) => IpEcn::Ect0,
            (true, true) => IpEcn::CongestionExperienced,
        },
        ..Ipv4Header::default()
    };
    ip.header_checksum = ip.calc_header_checksum();
    let mut headers = ip.to_bytes().to_vec();
    headers.extend_from_slice(transport);
    Frame { headers, length: ip.total_len }
}

/// A packet of a rate-based source. Its checksum is 0, which is none (RFC 768). A packet smaller than the headers is of these
/// alone. The payload of data begins with a number, as much of it as there is room for.
pub fn udp(route: &Route, packet: &Packet) -> Frame {
    let payload = packet.size.saturating_sub(UDP_HEADERS as u16);
    let header = UdpHeader {
        source_port: route.source_port,
        destination_port: route.destination_port,
        length: UdpHeader::LEN as u16 + payload,
        checksum: 0,
    };
    let mut transport = header.to_bytes().to_vec();
    if packet.has(flags::DATA) {
        transport.extend_from_slice(&datagram_number(packet)[..DATAGRAM_NUMBER.min(payload.into())]);
    }
    let zeros = payload - (transport.len() - UdpHeader::LEN) as u16;
    frame(route, packet, IpNumber::UDP, &transport, zeros)
}

/// The number is modulo 2^31: iperf's is negative in the last datagram.
fn datagram_number(packet: &Packet) -> [u8; DATAGRAM_NUMBER] {
    let microseconds = packet.stamp.0 / 1_000_000;
    let mut bytes = [0; DATAGRAM_NUMBER];
    let fields = [packet.number % (1 << 31), microseconds / 1_000_000, microseconds % 1_000_000];
    for (place, field) in bytes.chunks_exact_mut(4).zip(fields) {
        place.copy_from_slice(&(field as u32).to_be_bytes());
    }
    bytes
}

/// A packet of a connection, with these values of the timestamp option if it has one.
pub fn tcp(route: &Route, passage: &Passage, stack: &StackProfile, (clock, echo): (u32, u32)) -> Frame {
    let packet = &passage.packet;
    let is_syn = packet.has(flags::SYN);
    let is_answer = packet.has(flags::ACK);
    // The receiver's stream is empty, and so is what it has to acknowledge of the other's before the SYN.
    let after_syn = u32::from(!is_syn);
    let (sequence, acknowledgement) = match (is_syn, is_answer) {
        (true, false) => (packet.number as u32, 0),
        (true, true) => (0, 1),
        (false, false) => (packet.number as u32, after_syn),
        (false, true) => (after_syn, packet.number as u32),
    };
    let scale = window_scale(stack.receive_buffer.0);
    let window = match &passage.options {
        Some(Options::Ack(AckOptions { window: Some(window), .. })) => *window,
        _ => stack.receive_buffer.0,
    };
    // A SYN's window is never scaled: RFC 7323 section 2.2.
    let shown = if is_syn { window.min(LARGEST_WINDOW) } else { window.div_ceil(1 << scale).min(LARGEST_WINDOW) };
    let mut header = TcpHeader::new(route.source_port, route.destination_port, sequence, shown as u16);
    header.acknowledgment_number = acknowledgement;
    header.syn = is_syn;
    header.ack = is_answer || !is_syn;
    header.fin = packet.has(flags::FIN);
    header.psh = header.fin;
    (header.ns, header.cwr, header.ece) = ecn_flags(passage, stack);
    let sacks = match &passage.options {
        Some(Options::Ack(options)) => options.sacks,
        _ => SackBlocks::default(),
    };
    let elements = if is_syn { syn_options(stack, scale, clock, echo) } else { options(stack, &sacks, clock, echo) };
    header.set_options(&elements).expect("options fit: RFC 2018 section 3");
    let payload = if packet.has(flags::DATA) { u64::from(packet.size) - stack.segment_overhead() } else { 0 };
    let zeros = &PAYLOAD[..payload as usize];
    header.checksum = header
        .calc_checksum_ipv4_raw(route.source, route.destination, zeros)
        .expect("a segment of a 16-bit size is not too long");
    frame(route, packet, IpNumber::TCP, &header.to_bytes(), payload as u16)
}

/// RFC 7323 section 2.3: so that 16 bits hold the window.
fn window_scale(window: u64) -> u8 {
    (0..14).find(|scale| window.div_ceil(1 << scale) <= LARGEST_WINDOW).unwrap_or(14)
}

/// As the engine counts them ([`StackProfile::syn_size`]); etherparse pads with the end of options.
fn syn_options(stack: &StackProfile, scale: u8, clock: u32, echo: u32) -> Vec<TcpOptionElement> {
    // RFC 6691 section 2: without options, whose room in each segment the sender finds.
    let largest = stack.segment_size.0 + stack.segment_overhead() - stack.header_size.0;
    let mut elements = vec![TcpOptionElement::MaximumSegmentSize(largest as u16)];
    if stack.sack {
        elements.push(TcpOptionElement::SelectiveAcknowledgementPermitted);
    }
    if stack.timestamps {
        elements.push(TcpOptionElement::Timestamp(clock, echo));
    }
    elements.push(TcpOptionElement::WindowScale(scale));
    elements
}

/// Each aligned by two no-operations: RFC 7323 appendix A.
fn options(stack: &StackProfile, sacks: &SackBlocks, clock: u32, echo: u32) -> Vec<TcpOptionElement> {
    let mut elements = Vec::new();
    if stack.timestamps {
        elements.extend([TcpOptionElement::Noop, TcpOptionElement::Noop, TcpOptionElement::Timestamp(clock, echo)]);
    }
    let mut blocks = sacks.as_slice().iter().map(|block| (block.start as u32, block.end as u32));
    if let Some(first) = blocks.next() {
        let more = [blocks.next(), blocks.next(), blocks.next()];
        elements.extend([TcpOptionElement::Noop, TcpOptionElement::Noop]);
        elements.push(TcpOptionElement::SelectiveAcknowledgement(first, more));
    }
    elements
}

/// The flags AE, CWR and ECE. The ACE field of RFC 9768, which they are with the accurate echo, holds AE in its highest bit.
fn ecn_flags(passage: &Passage, stack: &StackProfile) -> (bool, bool, bool) {
    let packet = &passage.packet;
    let (is_syn, is_answer) = (packet.has(flags::SYN), packet.has(flags::ACK));
    let ace = |field: u64| (field & 4 != 0, field & 2 != 0, field & 1 != 0);
    match (stack.ecn, is_syn, is_answer) {
        (EcnKind::Off, ..) => (false, false, false),
        // RFC 3168 section 6.1.1: a SYN that asks for ECN has both, and an answer that agrees ECE.
        (EcnKind::Classic, ..) => (false, packet.has(flags::WINDOW_REDUCED), packet.has(flags::ECN_ECHO)),
        (EcnKind::Accurate, true, _) if !packet.has(flags::ECN_ECHO) => ace(0),
        // RFC 9768 section 3.1.1 and its table 2: the answer tells how the SYN was marked, here as it left.
        (EcnKind::Accurate, true, false) => ace(7),
        (EcnKind::Accurate, true, true) => ace(match (stack.ecn_on_control, stack.ecn_codepoint) {
            (false, _) => 2,
            (true, Codepoint::Ect1) => 3,
            (true, Codepoint::Ect0) => 4,
        }),
        (EcnKind::Accurate, false, _) => {
            let marks = match &passage.options {
                Some(Options::Ack(options)) => options.marks.unwrap_or(0),
                _ => 0,
            };
            ace(FIRST_ACE + marks)
        }
    }
}
