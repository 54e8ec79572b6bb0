//! Captures compared with the packets recorded, and with the RFCs' formats as parsed by etherparse.

#[path = "../../engine/tests/support/mod.rs"]
mod support;

use std::collections::{HashMap, HashSet};

use etherparse::{Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};
use pcap_file::pcapng::{Block, PcapNgReader};
use serde_json::json;
use sojourn_engine::packet::{Options, flags};
use sojourn_engine::probe::{End, Passage};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::tcp::ecn::EcnKind;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::recovery::RecoveryKind;
use sojourn_engine::time::Time;
use sojourn_pcapng::Capture;

use support::{MS, Path, S, constant_rate, droptail, finite, tcp};

/// A packet as it was captured: time in nanoseconds, length, headers.
type Captured = (u64, u32, Vec<u8>);

/// The link of `Path` on which nothing is lost yet, and the one back to the sender.
const FIRST: usize = 0;
const BACK: usize = 5;

/// Two flows with losses, one of which ends.
fn path(stack: StackProfile) -> Path {
    let mut path = Path::new(5_000_000, 30 * MS);
    path.queue = droptail(10);
    path.duration = 8 * S;
    path.warm_up = 0;
    path.flows = vec![tcp("newreno"), finite("cubic", 300_000)];
    path.stack = stack;
    path
}

/// The capture of a link, and the passages that it is of.
fn capture(specification: &Specification, link: usize) -> (Vec<Captured>, Vec<Passage>) {
    let mut simulation = Simulation::new(specification).expect("valid");
    let mut file = Vec::new();
    let mut capture =
        Capture::begin(&mut file, specification, &mut simulation, link, "a test").expect("the link exists");
    while simulation.step() {}
    let passages = simulation.take_passages_before(Time::NEVER);
    for passage in &passages {
        capture.write(passage).expect("memory can be written to");
    }
    assert_eq!(capture.end(), Ok(passages.len() as u64));
    let mut reader = PcapNgReader::new(file.as_slice()).expect("a section");
    let mut captured = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a block") {
            captured.push((packet.timestamp.as_nanos() as u64, packet.original_len, packet.data.into_owned()));
        }
    }
    (captured, passages)
}

/// Each connection that arrives has ports of its own, which no other flow between its hosts has.
#[test]
fn ports_of_arrivals() {
    let mut path = path(StackProfile::default());
    let arriving = |load: f64| {
        let mut flow = tcp("newreno");
        flow["arrivals"] = json!({"process": {"poisson": {"load": load}}, "sizes": {"fixed": 20_000}});
        flow
    };
    path.flows = vec![tcp("newreno"), arriving(0.2), arriving(0.1)];
    let (captured, passages) = capture(&path.specification(), FIRST);
    let mut ports = HashMap::new();
    let sent = captured.iter().zip(&passages).filter(|(_, passage)| !passage.packet.has(flags::ACK));
    for ((_, _, headers), passage) in sent {
        let (_, rest) = Ipv4Header::from_slice(headers).expect("an IPv4 header");
        let (tcp, _) = TcpHeader::from_slice(rest).expect("a TCP header");
        let pair = (tcp.source_port, tcp.destination_port);
        assert_eq!(*ports.entry(passage.packet.flow).or_insert(pair), pair);
    }
    let distinct: HashSet<_> = ports.values().collect();
    assert!(ports.len() > 20 && distinct.len() == ports.len(), "{} of {}", distinct.len(), ports.len());
}

fn stacks() -> Vec<StackProfile> {
    let standard = StackProfile::default();
    let with = |ecn: EcnKind| StackProfile { ecn, ..StackProfile::default() };
    vec![
        StackProfile { timestamps: false, ..standard.clone() },
        StackProfile { sack: false, recovery: RecoveryKind::NewReno, ..standard.clone() },
        StackProfile { duplicate_sack: true, segment_size: sojourn_engine::units::Bytes(536), ..standard.clone() },
        with(EcnKind::Classic),
        with(EcnKind::Accurate),
        standard,
    ]
}

/// For any stack the headers are as long as those of the simulated packets, their checksums are right for a payload of
/// zeros, and their fields agree with the packets.
#[test]
fn headers_match_packets() {
    let zeros = [0; 1 << 16];
    for stack in stacks() {
        let (captured, passages) = capture(&path(stack.clone()).specification(), FIRST);
        assert!(captured.len() > 1000);
        for ((time, length, data), passage) in captured.iter().zip(&passages) {
            let packet = &passage.packet;
            assert_eq!(*time, passage.time.0 / 1000);
            assert_eq!(*length, u32::from(packet.size), "{packet:?} with {stack:?}");
            let (ip, rest) = Ipv4Header::from_slice(data).expect("an IPv4 header");
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            assert_eq!(ip.total_len, packet.size);
            let (tcp, rest) = TcpHeader::from_slice(rest).expect("a TCP header");
            assert!(rest.is_empty());
            let payload = usize::from(packet.size) - data.len();
            assert_eq!(Ok(tcp.checksum), tcp.calc_checksum_ipv4(&ip, &zeros[..payload]));
            let (syn, answer) = (packet.has(flags::SYN), packet.has(flags::ACK));
            assert_eq!((tcp.syn, tcp.ack, tcp.fin), (syn, answer || !syn, packet.has(flags::FIN)));
            assert_eq!(passage.link, if answer { BACK } else { FIRST });
            if !syn {
                let (sequence, acknowledgement) = if answer { (1, packet.number) } else { (packet.number, 1) };
                let said = (u64::from(tcp.sequence_number), u64::from(tcp.acknowledgment_number));
                assert_eq!(said, (sequence, acknowledgement));
            }
        }
    }
}

/// The SACK blocks of an acknowledgement are those of the simulated packet, in the same order.
#[test]
fn sack_blocks() {
    for stack in [StackProfile::default(), StackProfile { timestamps: false, ..StackProfile::default() }] {
        let (captured, passages) = capture(&path(stack).specification(), FIRST);
        let mut blocks = 0;
        for ((_, _, data), passage) in captured.iter().zip(&passages) {
            let Some(Options::Ack(options)) = passage.options else { continue };
            let (_, rest) = Ipv4Header::from_slice(data).expect("an IPv4 header");
            let (tcp, _) = TcpHeader::from_slice(rest).expect("a TCP header");
            let shown = tcp.options_iterator().find_map(|option| match option.expect("an option") {
                TcpOptionElement::SelectiveAcknowledgement(first, more) => {
                    Some([vec![first], more.into_iter().flatten().collect()].concat())
                }
                _ => None,
            });
            let given: Vec<_> =
                options.sacks.as_slice().iter().map(|block| (block.start as u32, block.end as u32)).collect();
            blocks += given.len();
            assert_eq!(shown.unwrap_or_default(), given);
        }
        assert!(blocks > 100, "{blocks}");
    }
}

/// RFC 7323 section 3.2: an acknowledgement echoes the timestamp of its segment, and a sender echoes only timestamps
/// that it received.
#[test]
fn timestamp_echo() {
    let (captured, passages) = capture(&path(StackProfile::default()).specification(), FIRST);
    let mut shown: [Vec<u32>; 2] = Default::default();
    for ((_, _, data), passage) in captured.iter().zip(&passages).filter(|(_, passage)| passage.packet.flow == 0) {
        let (_, rest) = Ipv4Header::from_slice(data).expect("an IPv4 header");
        let (tcp, _) = TcpHeader::from_slice(rest).expect("a TCP header");
        let stamps = tcp.options_iterator().find_map(|option| match option {
            Ok(TcpOptionElement::Timestamp(clock, echo)) => Some((clock, echo)),
            _ => None,
        });
        let (clock, echo) = stamps.expect("a timestamp");
        let side = usize::from(passage.packet.has(flags::ACK));
        assert!(shown[side].last().is_none_or(|last| *last <= clock), "clocks do not run back");
        shown[side].push(clock);
        let opens = passage.packet.has(flags::SYN) && side == 0;
        assert!(opens || shown[1 - side].binary_search(&echo).is_ok(), "{echo} was never shown");
    }
}

/// Packets of sources without a connection are UDP. One smaller than the headers consists of headers only. The payload begins
/// with as much as there is room for of iperf 2's header: the packets are numbered from 0, and the time is that of sending.
#[test]
fn udp_of_rate_based_sources() {
    for (size, length, numbered) in [(1000, 1000, 12), (34, 34, 6), (20, 28, 0)] {
        let mut path = path(StackProfile::default());
        path.flows = vec![constant_rate(1_000_000, size, false)];
        let (captured, passages) = capture(&path.specification(), FIRST);
        assert!(!captured.is_empty());
        assert_eq!(captured.len(), passages.len());
        for (expected, ((_, original, data), passage)) in (0u32..).zip(captured.into_iter().zip(passages)) {
            let (_, rest) = Ipv4Header::from_slice(&data).expect("an IPv4 header");
            let (udp, rest) = UdpHeader::from_slice(rest).expect("a UDP header");
            assert_eq!((original, u32::from(udp.length), rest.len()), (length, length - 20, numbered));
            let microseconds = passage.packet.stamp.0 / 1_000_000;
            let (seconds, rest_of_second) = ((microseconds / 1_000_000) as u32, (microseconds % 1_000_000) as u32);
            let header = [expected, seconds, rest_of_second].map(u32::to_be_bytes).concat();
            assert_eq!(rest, &header[..numbered]);
        }
    }
}

/// An unknown link is an error of one line.
#[test]
fn unknown_link() {
    let specification = path(StackProfile::default()).specification();
    let mut simulation = Simulation::new(&specification).expect("valid");
    let begun = Capture::begin(Vec::new(), &specification, &mut simulation, 6, "");
    assert_eq!(begun.err(), Some("link 6 does not exist; there are 6".to_owned()));
    assert!(simulation.record(BACK, End::Far).is_ok());
}
