//! Accurate ECN on the wire (RFC 9768): the ACE field, the option, and what an end makes of them. The simulator's packets carry the
//! count of marks itself, so that this is only at an end that is held to scripts.

use sojourn_engine::time::Time;

use super::flight::Delivered;
use crate::script::{Ecn, Segment, TcpOption};

/// How an end gives feedback about congestion marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 9768.
    Accurate,
}

/// The first value of the counter in the ACE field (section 3.2.2.1), and its width.
const FIRST_ACE: u64 = 5;
const ACE: u64 = 8;

/// The first values of the option's counters, in the order of [`FIELDS`] (section 3.2.3).
const FIRST_BYTES: [u32; 3] = [1, 0, 1];

/// The counters of the option in the order in which this end sends them, which is order 1 of section 3.2.3.
const FIELDS: [(&str, Ecn); 3] = [("e1b", Ecn::Ect1), ("ceb", Ecn::Ce), ("e0b", Ecn::Ect0)];

/// The counters are of 24 bits.
const COUNTER: u32 = 1 << 24;

/// Bytes of options that a header has (RFC 9293 section 3.1).
const OPTIONS: usize = 40;
/// Bytes of the option with all its fields, without and with padding, and of each of these.
const LONGEST: usize = 11;
pub const PADDED: u64 = 12;
const FIELD: usize = 3;

/// Acknowledgements of so many segments or fewer on average, in units of 1/64, are taken to have been sent one for each two: a field
/// that may have wrapped then counts as wrapped (Linux tcp_input.c, `ACK_COMP_THRESH`, and the weight of the average).
const FEW_ACKED: u64 = 4;
const AVERAGE: u64 = 64;

/// The letters of flags that stand for a value of the ACE field, from its highest bit.
const LETTERS: [char; 3] = ['A', 'W', 'E'];

/// The value of the ACE field of a segment: its letters, or the digit that stands for them.
pub fn ace(segment: &Segment) -> u64 {
    segment.flags.chars().fold(0, |value, letter| match LETTERS.iter().position(|known| *known == letter) {
        Some(place) => value | 4 >> place,
        None => value | u64::from(letter.to_digit(8).unwrap_or(0)),
    })
}

/// The letters for a value of the ACE field.
pub fn letters(value: u64) -> String {
    LETTERS.iter().enumerate().filter(|(place, _)| value & (4 >> place) != 0).map(|(_, letter)| *letter).collect()
}

/// The ACE field of a segment of the handshake, which tells the ECN field of the one that it answers (section 3.1.1, Table 2).
pub fn reflection(received: Ecn) -> u64 {
    match received {
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
        _ => 0b010,
    }
}

/// What has been seen of the other end's option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Seen {
    #[default]
    Nothing,
    Counters,
    /// It was zeroed on its way (section 3.2.3.2.4).
    Zeroed,
}

/// The state of Accurate ECN at an end.
#[derive(Debug)]
pub struct AccurateEcn {
    /// The ECN field of the other end's SYN or of its answer.
    pub handshake: Ecn,
    /// Whether the ACE field was altered on its way: packets are no longer ECN-capable (section 3.2.2.3).
    pub is_altered: bool,
    /// Whether no segment with feedback has arrived yet.
    awaits_first: bool,
    /// Segments that arrived with a mark, and bytes of payload by ECN field.
    received_marks: u64,
    received_bytes: [u32; 3],
    /// The same as the other end tells it.
    delivered_marks: u64,
    delivered_bytes: [u32; 3],
    /// The ECN field of the segments that the other end got last, as far as that is known.
    assumed: Option<usize>,
    /// The ECN field of the latest segment.
    latest: Ecn,
    /// Options that are to be sent though they tell nothing new, and the fields that have to be in them.
    demanded: u8,
    least_fields: usize,
    seen: Seen,
    /// Whether the option keeps segments from arriving, and the segment that arrived twice last.
    is_blocked: bool,
    repeated: Option<u32>,
    /// The average number of segments that acknowledgements covered.
    acknowledged_at_once: u64,
    option_sent: Time,
}

impl AccurateEcn {
    /// The state at an end whose peer's SYN, or answer to one, arrived with that ECN field.
    pub fn new(handshake: Ecn) -> AccurateEcn {
        AccurateEcn {
            handshake,
            is_altered: false,
            awaits_first: true,
            received_marks: 0,
            received_bytes: [0; 3],
            delivered_marks: 0,
            delivered_bytes: [0; 3],
            assumed: None,
            latest: handshake,
            demanded: 2,
            least_fields: 0,
            seen: Seen::Nothing,
            is_blocked: false,
            repeated: None,
            acknowledged_at_once: 0,
            option_sent: Time::ZERO,
        }
    }

    /// The answer to the SYN arrives at the end that sent it.
    pub fn on_syn_answer(&mut self, segment: &Segment, is_checked: bool) {
        self.see_option(segment);
        if self.handshake == Ecn::Ce && self.is_plausible(ace(segment), is_checked) {
            self.received_marks += 1;
        }
    }

    /// Whether what a segment of the handshake tells may have become of a SYN that was not ECN-capable (section 3.2.2.3).
    fn is_plausible(&mut self, ace: u64, is_checked: bool) -> bool {
        let is_plausible = !is_checked || ace == reflection(Ecn::None);
        self.is_altered |= !is_plausible;
        is_plausible
    }

    /// The first segment after the SYNs arrives at the end that was opened passively (section 3.2.2.1, Table 4).
    pub fn on_third(&mut self, segment: &Segment, is_checked: bool) {
        self.see_option(segment);
        self.awaits_first = false;
        match ace(segment) {
            0 => self.is_altered = true,
            1 | 5 | 7 => {}
            ace if segment.sequence.2 == 0 => {
                let is_plausible = self.is_plausible(ace, is_checked);
                self.delivered_marks = u64::from(is_plausible && ace == reflection(Ecn::Ce));
            }
            _ => {}
        }
    }

    /// Whether segments carry the option.
    pub fn sends_option(&self) -> bool {
        self.seen == Seen::Counters && !self.is_blocked
    }

    /// A segment arrives. Returns whether it has another ECN field than the one before, so that it is to be acknowledged at once
    /// (section 3.2.2.5.1).
    pub fn on_arrival(&mut self, segment: &Segment) -> bool {
        let field = segment.ecn.unwrap_or(Ecn::None);
        if let Some(place) = FIELDS.iter().position(|(_, counted)| *counted == field) {
            self.received_marks += u64::from(field == Ecn::Ce);
            let bytes = segment.sequence.2;
            self.received_bytes[place] = (self.received_bytes[place] + bytes) % COUNTER;
            if bytes > 0 {
                self.least_fields = self.least_fields.max(place + 1);
            }
        }
        let changes = self.latest != field;
        if changes || field == Ecn::Ce {
            self.latest = field;
            self.demanded = 2;
        }
        changes
    }

    /// A segment arrives that was there before. If it comes a third time, what carries the option does not arrive (section
    /// 3.2.3.2.3; Linux tcp_input.c, tcp_rcv_spurious_retrans).
    pub fn on_repeated(&mut self, first: u32) {
        self.is_blocked |= self.repeated == Some(first);
        self.repeated = Some(first);
    }

    fn see_option(&mut self, segment: &Segment) {
        let Some(counters) = option_of(segment) else { return };
        if self.seen == Seen::Nothing {
            let is_zeroed = |place: usize| counters.get(place).is_some_and(|(_, value)| *value == 0);
            self.seen = if is_zeroed(0) || is_zeroed(2) { Seen::Zeroed } else { Seen::Counters };
        }
    }

    /// An acknowledgement arrives that covers what is `delivered`, with a newer timestamp if `is_newer`. Returns how many marked segments
    /// the other end has got in all (section A.2).
    pub fn on_acknowledgement(&mut self, segment: &Segment, delivered: Delivered, is_newer: bool, mss: u64) -> u64 {
        let ace = ace(segment);
        if std::mem::take(&mut self.awaits_first) && ace == 0 {
            self.is_altered = true; // Section 3.2.2.4.
        }
        if delivered.bytes == 0 && !is_newer {
            return self.delivered_marks;
        }
        let before = self.delivered_bytes[1];
        let is_known = self.take_option(segment, delivered.bytes);
        let marked_bytes = u64::from(self.delivered_bytes[1].wrapping_sub(before));
        if delivered.segments > 0 {
            let now = delivered.segments * AVERAGE;
            let average = &mut self.acknowledged_at_once;
            *average = if *average == 0 { now } else { (*average * (AVERAGE - 1) + now) / AVERAGE };
        }
        let least = (ace + 2 * ACE - FIRST_ACE - self.delivered_marks % ACE) % ACE;
        let most = delivered.segments.saturating_sub((delivered.segments.wrapping_sub(least)) % ACE);
        let is_few = self.acknowledged_at_once > FEW_ACKED * AVERAGE;
        let marks = match (delivered.segments >= ACE, is_known) {
            (false, _) => least,
            (true, true) if marked_bytes == 0 => least,
            (true, true) if marked_bytes > least * mss => most,
            (true, true) if marked_bytes < most * mss / 2 => least,
            (true, false) if is_few => least,
            _ => most,
        };
        self.delivered_marks += marks;
        self.delivered_marks
    }

    /// Takes the counters of the option. Returns whether the bytes by ECN field are known.
    fn take_option(&mut self, segment: &Segment, bytes: u64) -> bool {
        self.see_option(segment);
        let Some(counters) = option_of(segment).filter(|_| self.seen == Seen::Counters) else {
            let known = self.assumed.filter(|_| self.seen == Seen::Counters);
            if let Some(place) = known {
                self.delivered_bytes[place] = self.delivered_bytes[place].wrapping_add(bytes as u32);
            }
            return known.is_some();
        };
        let (mut is_known, mut is_ambiguous, mut first_changed) = (self.assumed.is_some(), false, false);
        let assumed = self.assumed;
        for (name, value) in counters {
            let Some(place) = FIELDS.iter().position(|(known, _)| known == name) else { continue };
            let counter = &mut self.delivered_bytes[place];
            let change = value.wrapping_sub(FIRST_BYTES[place]).wrapping_sub(*counter) % COUNTER;
            if change == 0 {
                continue;
            }
            let falls = change >= COUNTER / 2;
            *counter = counter.wrapping_add(if falls { change.wrapping_sub(COUNTER) } else { change });
            if falls {
                (is_known, is_ambiguous) = (false, true);
            }
            if assumed != Some(place) {
                if first_changed {
                    (is_known, is_ambiguous) = (false, true);
                } else {
                    (self.assumed, first_changed) = (Some(place), true);
                }
            }
        }
        if is_ambiguous {
            self.assumed = None;
        }
        is_known
    }

    /// The ACE field of a segment that leaves.
    pub fn ace(&self) -> u64 {
        (self.received_marks + FIRST_ACE) % ACE
    }

    /// The option that a segment carries, with that many bytes of other options before it and so many SACK blocks, of which one may
    /// be left out for it: Linux tcp_output.c, tcp_options_fit_accecn. `wanted` is net.ipv4.tcp_ecn_option, `is_due` whether the time
    /// has come to send it again.
    pub fn option(
        &mut self,
        before: usize,
        blocks: usize,
        (wanted, is_due): (u64, bool),
        now: Time,
    ) -> Option<(Vec<TcpOption>, usize)> {
        let is_wanted = wanted >= 2 || wanted > 0 && (self.demanded > 0 || is_due);
        if !is_wanted || !self.sends_option() {
            return None;
        }
        let fewest = if self.demanded > 0 && blocks > 1 { blocks - 1 } else { blocks };
        let (fields, blocks) = (fewest..=blocks).rev().find_map(|blocks| {
            let taken = before + if blocks > 0 { 4 + 8 * blocks } else { 0 };
            let padding = if blocks > 0 { 2 } else { 0 };
            Some((fitting(OPTIONS.checked_sub(taken)?, padding, self.least_fields)?, blocks))
        })?;
        self.least_fields = 0;
        self.demanded = self.demanded.saturating_sub(1);
        self.option_sent = now;
        Some((option_with(self.received_bytes, fields), blocks))
    }

    /// When the option was last sent.
    pub fn option_sent(&self) -> Time {
        self.option_sent
    }

    /// Marked segments that the other end has got, and bytes by ECN field, in the order of [`FIELDS`].
    pub fn delivered(&self) -> (u64, [u32; 3]) {
        (self.delivered_marks, self.delivered_bytes)
    }

    /// The same of this end.
    pub fn received(&self) -> (u64, [u32; 3]) {
        (self.received_marks, self.received_bytes)
    }
}

/// The option of the answer to a SYN.
pub fn first_option() -> Vec<TcpOption> {
    option_with([0; 3], FIELDS.len())
}

fn option_with(bytes: [u32; 3], fields: usize) -> Vec<TcpOption> {
    let counters = FIELDS.iter().zip(bytes).zip(FIRST_BYTES).take(fields);
    let listed = counters.map(|(((name, _), bytes), first)| ((*name).to_owned(), (bytes + first) % COUNTER)).collect();
    let padding = (4 - (LONGEST - FIELD * (FIELDS.len() - fields)) % 4) % 4;
    let mut options = vec![TcpOption::AccurateEcn(listed)];
    options.extend(std::iter::repeat_n(TcpOption::NoOperation, padding));
    options
}

fn option_of(segment: &Segment) -> Option<&[(String, u32)]> {
    segment.options.iter().flatten().find_map(|option| match option {
        TcpOption::AccurateEcn(counters) => Some(counters.as_slice()),
        _ => None,
    })
}

/// How many fields fit, of which there must be `least`. As much padding as `spare` can be done without.
fn fitting(room: usize, spare: usize, least: usize) -> Option<usize> {
    (least..=FIELDS.len()).rev().find(|fields| {
        let length = LONGEST - FIELD * (FIELDS.len() - fields);
        let beyond = length % 4;
        room >= if beyond <= spare { length - beyond } else { length.next_multiple_of(4) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ACE field is AE, CWR and ECE, from its highest bit (RFC 9768 section 3.1.1), as letters or as the digit that they make.
    #[test]
    fn field_of_flags() {
        for value in 0..8 {
            let segment = |flags: String| Segment { flags, ..Segment::default() };
            assert_eq!(ace(&segment(format!("P{}.", letters(value)))), value);
            assert_eq!(ace(&segment(format!("P.{value}"))), value);
        }
        assert_eq!([0b100, 0b010, 0b001].map(letters), ["A", "W", "E"]);
    }

    /// The option is of 11, 8, 5 or 2 bytes (section 3.2.3). All fields fit beside timestamps and one SACK block, or three blocks without
    /// timestamps; beside timestamps and two blocks two fields; and nothing where a field that has news does not fit.
    #[test]
    fn fields_that_fit() {
        let (timestamps, blocks) = (12, |count: usize| 4 + 8 * count);
        assert_eq!(fitting(OPTIONS - timestamps - blocks(1), 2, 0), Some(3));
        assert_eq!(fitting(OPTIONS - blocks(3), 2, 0), Some(3));
        assert_eq!(fitting(OPTIONS - timestamps - blocks(2), 2, 0), Some(2));
        assert_eq!(fitting(OPTIONS - timestamps - blocks(2), 2, 3), None);
        assert_eq!(fitting(3, 0, 0), None);
    }

    /// Section A.1: the counter is followed past its end, of 24 bits, and a first value of zero is no counter.
    #[test]
    fn counters_wrap() {
        let told = |bytes: u32| {
            let counters =
                vec![("e1b".to_owned(), 1), ("ceb".to_owned(), 0), ("e0b".to_owned(), (bytes + 1) % COUNTER)];
            Segment { options: Some(vec![TcpOption::AccurateEcn(counters)]), ..Segment::default() }
        };
        let mut state = AccurateEcn::new(Ecn::None);
        for bytes in [COUNTER / 3, COUNTER / 3 * 2, COUNTER - 1, COUNTER + 5] {
            state.take_option(&told(bytes), 0);
            assert_eq!(state.delivered().1, [0, 0, bytes]);
        }
        let mut zeroed = AccurateEcn::new(Ecn::None);
        zeroed.see_option(&told(COUNTER - 1));
        assert!(!zeroed.sends_option());
    }
}
