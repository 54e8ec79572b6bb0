//! A send buffer that grows with the congestion window as in Linux 6.1 (tcp_input.c, tcp_sndbuf_expand, tcp_check_space), and an
//! application that always has data for it. It writes until the buffer is full (tcp.c, tcp_sendmsg_locked), and goes on once a third
//! of the buffer is free (include/net/sock.h, sk_stream_is_writeable).

use super::scoreboard::Scoreboard;

/// The buffer of a new connection, in bytes of memory, as the backend `linux` sets it (ip-sysctl.rst, tcp_wmem).
const FIRST_BUFFER: u64 = 65_536;

/// The memory of a segment beside its data: 192 bytes for headers (include/net/tcp.h, MAX_TCP_HEADER), 256 for the buffer's
/// description and 320 for that of its pages (include/linux/skbuff.h, SKB_TRUESIZE).
pub(super) const OVERHEAD: u64 = DESCRIPTION + HEAD;
const DESCRIPTION: u64 = 256;
const HEAD: u64 = 512;

/// The options of a segment, which the memory for one includes (tcp_sndbuf_expand, mss_clamp).
const OPTIONS: u64 = 12;

/// The receive window of a new connection. When half of it has been written, the segment carries PSH (tcp.c, forced_push). Later windows
/// are large enough that the buffer is full first.
const FIRST_WINDOW: u64 = 65_535;

/// Windows that have room, and those of algorithms that set the window themselves (tcp_bbr.c, bbr_sndbuf_expand).
const WINDOWS: u64 = 2;
const GOVERNED_WINDOWS: u64 = 3;

/// The least window that has room (include/net/tcp.h, TCP_INIT_CWND).
const LEAST_WINDOW: u64 = 10;

/// The segments that have been sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The first that has not been acknowledged.
    pub una: u64,
    /// The first that has not been sent.
    pub nxt: u64,
    /// How many of them have been SACKed.
    pub sacked: u64,
}

impl From<&Scoreboard> for Sent {
    fn from(scoreboard: &Scoreboard) -> Sent {
        Sent { una: scoreboard.una(), nxt: scoreboard.nxt(), sacked: scoreboard.sacked() }
    }
}

/// A buffer of whole segments.
#[derive(Clone, Debug)]
pub struct SendBuffer {
    segment: u64,
    /// sk_sndbuf, and the most it may be, in bytes of memory.
    limit: u64,
    most: u64,
    /// The memory of a segment that is to have room, times the windows that are.
    memory_wanted: u64,
    /// The memory that is freed when a segment is SACKed, which then joins the one before (tcp_input.c, tcp_shift_skb_data).
    memory_joined: u64,
    /// The segments that the application has written.
    written: u64,
    /// Whether the application waits for room (SOCK_NOSPACE).
    is_full: bool,
    /// Segments with PSH that have not been acknowledged: those with which the buffer was full, and one before.
    pushed: Vec<u64>,
}

impl SendBuffer {
    /// An empty buffer for segments of this size, which grows to `most` bytes of memory. `has_sack`: segments may be SACKed.
    pub fn new(segment: u64, most: u64, is_governed: bool, has_sack: bool) -> SendBuffer {
        let windows = if is_governed { GOVERNED_WINDOWS } else { WINDOWS };
        SendBuffer {
            segment,
            limit: FIRST_BUFFER.min(most),
            most,
            memory_wanted: windows * ((segment + OPTIONS + HEAD).next_power_of_two() + DESCRIPTION),
            memory_joined: if has_sack { OVERHEAD } else { 0 },
            written: 0,
            is_full: false,
            pushed: Vec::new(),
        }
    }

    /// Whether the application has written this segment.
    pub fn holds(&self, index: u64) -> bool {
        index < self.written
    }

    /// Whether this segment carries PSH.
    pub fn is_pushed(&self, index: u64) -> bool {
        self.pushed.contains(&index)
    }

    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The memory that has been freed by SACKs.
    fn joined(&self, sent: Sent) -> u64 {
        self.memory_joined * sent.sacked
    }

    /// Looks for room, after an acknowledgement or as a segment leaves: tcp_check_space.
    pub fn look_for_room(&mut self, sent: Sent, in_flight: u64, window: u64) {
        if !self.is_full {
            return;
        }
        if in_flight < window {
            let needed = LEAST_WINDOW.max(window / self.segment) * self.memory_wanted;
            self.limit = self.limit.max(needed.min(self.most));
        }
        let outstanding = self.written - sent.una;
        let held = (outstanding * (self.segment + OVERHEAD)).saturating_sub(self.joined(sent));
        self.is_full = held >= self.limit || self.limit - held < held / 2;
    }

    /// The application writes, unless it waits, until the buffer is full. Returns whether it has.
    pub fn fill(&mut self, sent: Sent) -> bool {
        if self.is_full {
            return false;
        }
        let half = FIRST_WINDOW / 2 / self.segment;
        if self.written == 0 && half >= sent.nxt {
            self.pushed.push(half);
        }
        let room = (self.limit + self.joined(sent)).div_ceil(self.segment + OVERHEAD);
        self.written = self.written.max(sent.una + room);
        self.is_full = true;
        true
    }

    /// Those of the segments written that the window allows have been sent. The last carries PSH unless it is one of them (tcp_push).
    pub fn push_last(&mut self, sent: Sent) {
        self.pushed.retain(|index| *index >= sent.una);
        if self.written > sent.nxt {
            self.pushed.push(self.written - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1448;

    /// The segments with PSH of a connection in slow start on Linux 6.1.192, each segment acknowledged, but for the 106th and
    /// the 144th: they carry it since the application has written half of the receiver's window again (tcp.c, forced_push).
    #[test]
    fn kernel_pushes() {
        let mut buffer = SendBuffer::new(SEGMENT, 4 << 20, false, true);
        let (mut nxt, mut found) = (0, vec![]);
        for una in 0..510 {
            let window = 10 + una;
            let at = |nxt| Sent { una, nxt, sacked: 0 };
            while nxt < una + window && buffer.holds(nxt) {
                buffer.look_for_room(at(nxt), (nxt + 1 - una) * SEGMENT, window * SEGMENT);
                nxt += 1;
            }
            buffer.look_for_room(at(nxt), (nxt - una) * SEGMENT, window * SEGMENT);
            if buffer.fill(at(nxt)) {
                while nxt < una + window && buffer.holds(nxt) {
                    nxt += 1;
                }
                buffer.push_last(at(nxt));
                let latest = found.last().copied().unwrap_or(0);
                found.extend(buffer.pushed.iter().map(|index| index + 1).filter(|number| *number > latest));
            }
        }
        assert_eq!(found, [23, 30, 43, 61, 83, 111, 148, 197, 258, 338, 440, 573, 745, 967, 1253]);
    }

    /// tcp_shift_skb_data: SACKed segments join, so that 30 of them take 30 x 1448 bytes, and the application goes on.
    #[test]
    fn sacked_segments_leave_room() {
        let mut buffer = SendBuffer::new(SEGMENT, 4 << 20, false, true);
        let sent = Sent { una: 0, nxt: 30, sacked: 0 };
        assert!(buffer.fill(sent));
        buffer.look_for_room(sent, 30 * SEGMENT, 30 * SEGMENT);
        assert!(!buffer.fill(sent), "66,480 bytes of 65,536 are taken");
        let sacked = Sent { sacked: 30, ..sent };
        buffer.look_for_room(sacked, 30 * SEGMENT, 30 * SEGMENT);
        assert!(buffer.fill(sacked), "43,440 bytes of 65,536 are taken, less than two thirds");
    }
}
