//! A packet is a small `Copy` value with the fields that routers and both ends need, without payload bytes.

use std::num::NonZeroU32;

use crate::time::{Duration, Time};

/// The flags of a packet.
pub mod flags {
    /// Carries payload.
    pub const DATA: u8 = 1;
    /// Carries a cumulative acknowledgement and travels towards the sender.
    pub const ACK: u8 = 1 << 1;
    /// Opens a connection.
    pub const SYN: u8 = 1 << 2;
    /// Ends the sender's stream.
    pub const FIN: u8 = 1 << 3;
    /// ECT(1): the bit of the ECN field that only this codepoint and CE have (RFC 3168 section 5).
    pub const ECT_1: u8 = 1 << 4;
    /// ECT(0).
    pub const ECT_0: u8 = 1 << 5;
    /// CE, congestion experienced: both bits of the ECN field.
    pub const CONGESTION_EXPERIENCED: u8 = ECT_0 | ECT_1;
    /// ECE, ECN-Echo (RFC 3168 section 6.1), of an acknowledgement.
    pub const ECN_ECHO: u8 = 1 << 6;
    /// PSH, of data, which never carry ECN-Echo.
    pub const PUSH: u8 = ECN_ECHO;
    /// CWR, congestion window reduced (RFC 3168 section 6.1).
    pub const WINDOW_REDUCED: u8 = 1 << 7;
    /// ECE and CWR of a SYN, which asks for ECN (RFC 3168 section 6.1.1). ECE alone is an answer that agrees.
    pub const ECN_SETUP: u8 = ECN_ECHO | WINDOW_REDUCED;
}

/// The options of a packet: one more than an index into the simulation's [`OptionsPool`], a window and nothing else, or none. It is
/// never zero, so that a packet that may be none has the size of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionsHandle(NonZeroU32);

/// From here on a handle is a window and nothing else. Windows are of less than 2^30 bytes (RFC 7323 section 2.3).
const WINDOWS: NonZeroU32 = NonZeroU32::MIN.saturating_add((1 << 31) - 1);

impl OptionsHandle {
    pub const NONE: OptionsHandle = OptionsHandle(NonZeroU32::MAX);

    fn of_slot(slot: u32) -> OptionsHandle {
        OptionsHandle(NonZeroU32::MIN.saturating_add(slot))
    }

    /// The slot in the pool, if the packet has options there.
    fn slot(self) -> usize {
        self.0.get() as usize - 1
    }

    /// A window, in bytes, and nothing else.
    pub fn of_window(window: u64) -> OptionsHandle {
        debug_assert!(window < 1 << 30, "a window that window scaling allows");
        OptionsHandle(WINDOWS | window as u32)
    }

    /// The window, if that is all.
    pub fn window(self) -> Option<u64> {
        (self != OptionsHandle::NONE && self.0 >= WINDOWS).then_some(u64::from(self.0.get() & !WINDOWS.get()))
    }

    /// Whether the packet has options besides a window.
    pub fn has_options(self) -> bool {
        self.0 < WINDOWS
    }
}

/// A packet on the wire. It has 32 bytes, since queues and links hold many.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// First sequence number of the payload, SYN or FIN. In an ACK, the cumulative acknowledgement number.
    pub number: u64,
    /// The timestamp option (RFC 7323): the sender's clock when a data packet was sent. In an ACK, the echoed value.
    pub stamp: Time,
    pub flow: u32,
    /// The position on its path: an index into the network's table of hops.
    pub hop: u32,
    pub options: OptionsHandle,
    /// Size on the wire in bytes, including all headers.
    pub size: u16,
    /// See [`flags`].
    pub flags: u8,
}

#[cfg(test)]
impl Packet {
    /// A full segment of flow 0.
    pub(crate) const FULL: Packet = Packet {
        number: 0,
        stamp: Time::ZERO,
        flow: 0,
        hop: 0,
        options: OptionsHandle::NONE,
        size: 1500,
        flags: flags::DATA,
    };
}

impl Packet {
    /// Whether all of `bits` are set.
    pub fn has(&self, bits: u8) -> bool {
        self.flags & bits == bits
    }

    pub fn is_ecn_capable(&self) -> bool {
        self.flags & flags::CONGESTION_EXPERIENCED != 0
    }

    pub fn is_marked(&self) -> bool {
        self.has(flags::CONGESTION_EXPERIENCED)
    }

    /// The load factor that VCP encodes in the ECN field, `None` if the packet is not ECN-capable.
    pub fn load_factor(&self) -> Option<LoadFactor> {
        let bits = self.flags & flags::CONGESTION_EXPERIENCED;
        [LoadFactor::Low, LoadFactor::High, LoadFactor::Overload].into_iter().find(|load| load.bits() == bits)
    }

    /// Sets the load factor in the ECN field.
    pub fn set_load_factor(&mut self, load: LoadFactor) {
        debug_assert!(self.is_ecn_capable(), "only ECN-capable packets carry the load");
        self.flags = self.flags & !flags::CONGESTION_EXPERIENCED | load.bits();
    }

    /// Marks the packet, which must be ECN-capable.
    pub fn mark(&mut self) {
        debug_assert!(self.is_ecn_capable(), "only ECN-capable packets are marked");
        self.flags |= flags::CONGESTION_EXPERIENCED;
    }
}

/// The load of a path, which VCP routers write into the ECN field (Xia et al. 2005, section 3.1). A more loaded link
/// has a greater code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadFactor {
    /// Codepoint 01.
    Low,
    /// Codepoint 10.
    High,
    /// Codepoint 11.
    Overload,
}

impl LoadFactor {
    pub fn bits(self) -> u8 {
        match self {
            LoadFactor::Low => flags::ECT_1,
            LoadFactor::High => flags::ECT_0,
            LoadFactor::Overload => flags::CONGESTION_EXPERIENCED,
        }
    }
}

/// A half-open range of sequence numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub start: u64,
    /// One past the last.
    pub end: u64,
}

/// The maximum number of SACK blocks: four fit into 40 bytes of options, three with timestamps (RFC 2018 section 3).
pub const MAXIMUM_SACK_BLOCKS: usize = 4;

/// The SACK blocks of an acknowledgement, the most recent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [Block; MAXIMUM_SACK_BLOCKS],
    length: u8,
}

impl SackBlocks {
    /// These, at most [`MAXIMUM_SACK_BLOCKS`].
    pub fn new(blocks: &[Block]) -> SackBlocks {
        let mut all = SackBlocks { length: blocks.len() as u8, ..SackBlocks::default() };
        all.blocks[..blocks.len()].copy_from_slice(blocks);
        all
    }

    /// The most recent block is now this.
    pub fn set_first(&mut self, block: Block) {
        self.blocks[0] = block;
    }

    /// Adds a block. The caller must not exceed [`MAXIMUM_SACK_BLOCKS`].
    pub fn push(&mut self, block: Block) {
        self.blocks[usize::from(self.length)] = block;
        self.length += 1;
    }

    pub fn as_slice(&self) -> &[Block] {
        &self.blocks[..usize::from(self.length)]
    }
}

/// The contents of an acknowledgement besides its number and the echoed timestamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckOptions {
    pub sacks: SackBlocks,
    /// The one-way delay of the latest data segment, only for senders that request it.
    pub one_way_delay: Option<Duration>,
    /// The arrival time of the latest data segment, only for senders that request it.
    pub arrived: Option<Time>,
    /// When the acknowledgement was sent, only for senders that request it.
    pub sent: Option<Time>,
    /// The number of marked data packets received so far: the counter of Accurate ECN (RFC 9768), which does not wrap
    /// here.
    pub marks: Option<u64>,
    /// The load factor in the latest data segment, only for senders that request it.
    pub load_factor: Option<LoadFactor>,
    /// The receive window in bytes, only of receivers that advertise one.
    pub window: Option<u64>,
}

impl AckOptions {
    pub const NONE: AckOptions = AckOptions {
        sacks: SackBlocks { blocks: [Block { start: 0, end: 0 }; 4], length: 0 },
        one_way_delay: None,
        arrived: None,
        sent: None,
        marks: None,
        load_factor: None,
        window: None,
    };

    fn is_empty(&self) -> bool {
        self.sacks.length == 0 && self.one_way_delay.is_none() && self.marks.is_none() && self.load_factor.is_none()
    }
}

/// The contents of a TFRC report besides the echoed timestamp (RFC 5348 section 3.2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// t_delay: the time since the arrival of the packet with that timestamp.
    pub delay: Duration,
    /// X_recv, in bytes of payload per second.
    pub receive_rate: f64,
    /// The loss event rate p.
    pub loss_event_rate: f64,
}

/// Options that only some packets carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Options {
    Ack(AckOptions),
    /// Option of a TFRC data packet: the sender's estimate of the round-trip time (RFC 5348 section 3.2.1).
    RoundTripTime(Duration),
    Report(Report),
}

impl From<AckOptions> for Options {
    fn from(options: AckOptions) -> Options {
        Options::Ack(options)
    }
}

/// The options of the packets in the network. Packets carry a handle, since most have none.
#[derive(Debug, Default)]
pub struct OptionsPool {
    slots: Vec<Options>,
    free: Vec<u32>,
}

impl OptionsPool {
    /// Stores `options` until they are released.
    pub fn put(&mut self, options: impl Into<Options>) -> OptionsHandle {
        match options.into() {
            Options::Ack(options) => self.put_ack(|stored| *stored = options),
            others => OptionsHandle::of_slot(self.store(others)),
        }
    }

    /// Stores those of an acknowledgement, which `fill` sets where they are.
    pub fn put_ack(&mut self, fill: impl FnOnce(&mut AckOptions)) -> OptionsHandle {
        let slot = self.store(Options::Ack(AckOptions::NONE));
        if let Options::Ack(options) = &mut self.slots[slot as usize] {
            fill(options);
            if options.is_empty() {
                self.free.push(slot);
                return options.window.map_or(OptionsHandle::NONE, OptionsHandle::of_window);
            }
        }
        OptionsHandle::of_slot(slot)
    }

    /// Puts options into a free slot.
    fn store(&mut self, options: Options) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = options;
            return slot;
        }
        self.slots.push(options);
        self.slots.len() as u32 - 1
    }

    /// The options of an acknowledgement, if it has any besides a window.
    pub fn get(&self, handle: OptionsHandle) -> Option<&AckOptions> {
        match self.slots.get(handle.slot()) {
            Some(Options::Ack(options)) if handle != OptionsHandle::NONE => Some(options),
            _ => None,
        }
    }

    pub fn window(&self, handle: OptionsHandle) -> Option<u64> {
        handle.window().or_else(|| self.get(handle)?.window)
    }

    /// The options of a packet, if any, which remain stored.
    pub fn peek(&self, handle: OptionsHandle) -> Option<Options> {
        if handle.has_options() {
            return self.slots.get(handle.slot()).copied();
        }
        handle.window().map(|window| Options::Ack(AckOptions { window: Some(window), ..AckOptions::NONE }))
    }

    /// The options of a packet, if any, which are released.
    pub fn take(&mut self, handle: OptionsHandle) -> Option<Options> {
        self.release(handle);
        self.peek(handle)
    }

    /// Releases the slot of options that are no longer needed.
    pub fn release(&mut self, handle: OptionsHandle) {
        if handle.has_options() {
            self.free.push(handle.slot() as u32);
        }
    }
}
