//! A capture of one link, as pcapng: what a sniffer at the link's near end would have written.
//!
//! The engine's packets have no bytes. Here they get an IPv4 header and TCP's or UDP's, which say what the packets say; the
//! payload is zeros, of which only the length is written, but for the number in UDP data.

mod conversation;
mod headers;

use std::borrow::Cow;
use std::io::Write;
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use sojourn_engine::catalogue;
use sojourn_engine::probe::{End, Passage};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;

use conversation::Conversations;
use headers::{LARGEST_HEADERS, address};

/// Picoseconds in a nanosecond, the capture's unit of time.
const PICOSECONDS: u64 = 1_000;

/// `if_tsresol`: units of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Of `epb_flags` the direction.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// A file of the packets that pass the near end of a link, leaving over it or arriving over the link back.
pub struct PacketFile<W: Write> {
    writer: PcapNgWriter<W>,
    packets: u64,
}

impl<W: Write> PacketFile<W> {
    /// Writes what comes before the packets. The comment is for readers.
    ///
    /// # Errors
    /// `out` cannot be written to, or there is no such link.
    pub fn begin(out: W, specification: &Specification, link: usize, comment: &str) -> Result<PacketFile<W>, String> {
        let writer = preamble(out, specification, link, comment).map_err(|error| told(&error))?;
        Ok(PacketFile { writer, packets: 0 })
    }

    /// Writes a packet: its moment in ns, whether it leaves, its length, and its headers from IP's on. They come in order of time.
    pub fn write(&mut self, moment: u64, leaves: bool, length: u32, headers: &[u8]) -> Result<(), String> {
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(moment),
            original_len: length,
            data: Cow::Borrowed(headers),
            options: vec![EnhancedPacketOption::Flags(if leaves { OUTBOUND } else { INBOUND })],
        };
        self.writer.write_pcapng_block(block).map_err(|error| told(&error))?;
        self.packets += 1;
        Ok(())
    }

    /// Ends the file; returns how many packets it has.
    pub fn end(self) -> Result<u64, String> {
        self.writer.into_inner().flush().map_err(|error| error.to_string())?;
        Ok(self.packets)
    }
}

/// A capture under way.
pub struct Capture<W: Write> {
    file: PacketFile<W>,
    conversations: Conversations,
    /// The link whose packets are seen leaving.
    link: usize,
}

impl<W: Write> Capture<W> {
    /// Begins a capture of a link and of the link back between the same nodes, if there is one: has the simulation record
    /// what is to be seen, and writes what comes before the packets. The comment is for readers.
    ///
    /// # Errors
    /// `out` cannot be written to, or there is no such link.
    pub fn begin(
        out: W,
        specification: &Specification,
        simulation: &mut Simulation,
        link: usize,
        comment: &str,
    ) -> Result<Capture<W>, String> {
        simulation.record(link, End::Near)?;
        if let Some(back) = way_back(specification, link) {
            simulation.record(back, End::Far)?;
        }
        let conversations = Conversations::new(specification, simulation)?;
        Ok(Capture { file: PacketFile::begin(out, specification, link, comment)?, conversations, link })
    }

    /// Writes a packet. They come in order of time.
    pub fn write(&mut self, passage: &Passage) -> Result<(), String> {
        let frame = self.conversations.frame(passage);
        let leaves = passage.link == self.link;
        self.file.write(passage.time.0 / PICOSECONDS, leaves, u32::from(frame.length), &frame.headers)
    }

    /// Ends the capture; returns how many packets it has.
    pub fn end(self) -> Result<u64, String> {
        self.file.end()
    }
}

/// The first link between the same nodes in the other direction.
fn way_back(specification: &Specification, link: usize) -> Option<usize> {
    let there = specification.links.get(link)?;
    specification.links.iter().position(|back| (back.from, back.to) == (there.to, there.from))
}

fn preamble<W: Write>(
    out: W,
    specification: &Specification,
    link: usize,
    comment: &str,
) -> Result<PcapNgWriter<W>, PcapError> {
    let application = format!("Sojourn {}", catalogue::VERSION);
    let section = SectionHeaderBlock {
        // The same bytes on every machine.
        endianness: Endianness::Little,
        options: vec![
            SectionHeaderOption::Comment(Cow::Owned(comment.to_owned())),
            SectionHeaderOption::UserApplication(Cow::Owned(application)),
        ],
        ..SectionHeaderBlock::default()
    };
    let mut writer = PcapNgWriter::with_section_header(out, section)?;
    let name = specification.link_name(link);
    writer.write_pcapng_block(InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: LARGEST_HEADERS as u32,
        options: vec![
            InterfaceDescriptionOption::IfName(Cow::Owned(name)),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            InterfaceDescriptionOption::IfSpeed(specification.links[link].rate.0),
        ],
    })?;
    let record = |(node, name): (usize, &String)| {
        let ip_addr = Cow::Owned(address(node).to_vec());
        Record::Ipv4(Ipv4Record { ip_addr, names: vec![Cow::Owned(name.clone())] })
    };
    let records = specification.nodes.iter().enumerate().map(record).collect();
    writer.write_pcapng_block(NameResolutionBlock { records, options: Vec::new() })?;
    Ok(writer)
}

/// The error in one line.
fn told(error: &PcapError) -> String {
    match error {
        PcapError::IoError(error) => error.to_string(),
        other => other.to_string(),
    }
}
