//! A queue discipline whose decisions come from outside the engine, such as a user's own file.
//!
//! The packets stay here, in lines of first in, first out with a common limit. The plugin says into which line an arrival goes, which
//! line sends next, and of each packet, when it arrives and when it is to leave, whether it passes, is marked or is dropped. So no
//! plugin can lose a packet or send one twice.

use std::fmt::Debug;

use super::discipline::{Context, QueueDiscipline, Queued};
use super::limit::Limit;
use super::parts::{Fifo, admits};
use crate::failure::Failure;
use crate::inner::{Tell, checked};
use crate::packet::{Packet, flags};
use crate::random::Random;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// What a plugin decides of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    /// It is marked if it is ECN-capable, and dropped otherwise.
    Mark,
    Drop,
}

/// What a plugin sees of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub flow: u32,
    /// Bytes on the wire.
    pub size: u16,
    pub is_data: bool,
    pub is_ecn_capable: bool,
    pub is_marked: bool,
    /// When it was queued; now, when it arrives.
    pub since: Time,
}

impl Seen {
    fn of(packet: &Packet, since: Time) -> Seen {
        Seen {
            flow: packet.flow,
            size: packet.size,
            is_data: packet.has(flags::DATA),
            is_ecn_capable: packet.is_ecn_capable(),
            is_marked: packet.is_marked(),
            since,
        }
    }
}

/// What a plugin sees of its queue, and its random numbers.
#[derive(Debug)]
pub struct View<'a> {
    pub now: Time,
    /// Packets in each line.
    pub packets: &'a [u64],
    /// Bytes in each line.
    pub bytes: &'a [u64],
    pub random: &'a mut Random,
}

/// The decisions of a queue discipline from outside the engine. All have defaults, which together are DropTail.
#[warn(missing_docs)]
pub trait PluginQueue: Debug + Send + Sync {
    /// How many lines there are; asked once.
    fn lines(&self) -> usize {
        1
    }

    /// Into which line an arrival goes.
    fn classify(&mut self, _packet: &Seen, _view: &mut View) -> usize {
        0
    }

    /// An arrival is dropped, as there is no room for it.
    fn overflow(&mut self, _packet: &Seen, _view: &mut View) {}

    /// Decides of an arrival for which there is room.
    fn admit(&mut self, _packet: &Seen, _line: usize, _view: &mut View) -> Verdict {
        Verdict::Pass
    }

    /// Which line sends next. At least one has a packet, and so must the line that is named.
    fn next_line(&mut self, view: &mut View) -> usize {
        view.packets.iter().position(|packets| *packets > 0).unwrap_or_default()
    }

    /// Decides of a packet that is to leave. If it is dropped, the next is looked at.
    fn release(&mut self, _packet: &Seen, _line: usize, _view: &mut View) -> Verdict {
        Verdict::Pass
    }

    /// The rate of the link, before the first packet and at each change.
    fn set_link_rate(&mut self, _rate: Rate) {}

    /// The interval of the timer; none for no timer. Asked after each time that it fired.
    fn timer_interval(&self) -> Option<Duration> {
        None
    }

    /// The timer fired.
    fn on_timer(&mut self, _now: Time, _packets: &[u64], _bytes: &[u64]) {}

    /// Tells the values of its inner state that it declares and knows.
    fn tell_state(&self, _tell: &mut Tell<'_>) {}

    /// One line on what a hook did wrong, with the place in the user's file.
    fn complaint(&self, hook: &str, what: &str) -> String;
}

#[derive(Debug)]
pub struct PluginDiscipline {
    plugin: Box<dyn PluginQueue>,
    failure: Failure,
    limit: Limit,
    lines: Vec<Fifo>,
    /// The lengths of the lines, as the plugin sees them.
    packets: Vec<u64>,
    bytes: Vec<u64>,
    total_packets: u64,
    total_bytes: u64,
}

/// Lines that a plugin may have: as many as the most hash buckets of a built-in scheduler.
const MOST_LINES: usize = 65_536;

impl PluginDiscipline {
    /// An empty queue; no limit queues everything.
    ///
    /// # Errors
    /// One line if the plugin wants no line or too many.
    pub fn new(
        plugin: Box<dyn PluginQueue>,
        failure: Failure,
        limit: Option<Limit>,
    ) -> Result<PluginDiscipline, String> {
        let lines = plugin.lines();
        if lines == 0 || lines > MOST_LINES {
            return Err(plugin.complaint("lines", &format!("is {lines}; from 1 to {MOST_LINES} are allowed")));
        }
        Ok(PluginDiscipline {
            plugin,
            failure,
            limit: limit.unwrap_or(Limit::Packets(u64::MAX)),
            lines: vec![Fifo::default(); lines],
            packets: vec![0; lines],
            bytes: vec![0; lines],
            total_packets: 0,
            total_bytes: 0,
        })
    }

    fn fail(&self, hook: &str, what: &str) {
        self.failure.report(self.plugin.complaint(hook, what));
    }

    /// The line that was named, if there is one.
    fn line(&self, hook: &str, line: usize) -> usize {
        if line >= self.lines.len() {
            self.fail(hook, &format!("named line {line}; there are {}, from 0", self.lines.len()));
            return 0;
        }
        line
    }

    /// Takes the head of the line that the plugin chooses; once it has failed, of any line.
    fn pop(&mut self, context: &mut Context) -> Option<(usize, Queued)> {
        if self.total_packets == 0 {
            return None;
        }
        let mut line = self.lines.iter().position(|line| line.packets() > 0)?;
        if !self.failure.is_set() && self.lines.len() > 1 {
            let mut view =
                View { now: context.now, packets: &self.packets, bytes: &self.bytes, random: &mut *context.random };
            let chosen = self.plugin.next_line(&mut view);
            let chosen = self.line("next_line", chosen);
            if self.packets[chosen] > 0 {
                line = chosen;
            } else {
                self.fail("next_line", &format!("named line {chosen}, which is empty"));
            }
        }
        let queued = self.lines[line].pop()?;
        let size = u64::from(queued.packet.size);
        self.packets[line] -= 1;
        self.bytes[line] -= size;
        self.total_packets -= 1;
        self.total_bytes -= size;
        Some((line, queued))
    }
}

/// Carries out a verdict. Whether the packet is still there.
fn stays(verdict: Verdict, packet: &mut Packet, since: Option<Time>, context: &mut Context) -> bool {
    match verdict {
        Verdict::Pass => true,
        Verdict::Mark => context.mark_or_drop(packet, true, since),
        Verdict::Drop => context.mark_or_drop(packet, false, since),
    }
}

impl QueueDiscipline for PluginDiscipline {
    fn enqueue(&mut self, mut packet: Packet, context: &mut Context) {
        if !admits(&packet, self.limit, self.total_packets, self.total_bytes, context) {
            if !self.failure.is_set() {
                let mut view =
                    View { now: context.now, packets: &self.packets, bytes: &self.bytes, random: &mut *context.random };
                self.plugin.overflow(&Seen::of(&packet, context.now), &mut view);
            }
            return;
        }
        let mut line = 0;
        if !self.failure.is_set() {
            let seen = Seen::of(&packet, context.now);
            let mut view =
                View { now: context.now, packets: &self.packets, bytes: &self.bytes, random: &mut *context.random };
            if self.lines.len() > 1 {
                line = self.plugin.classify(&seen, &mut view);
                line = self.line("classify", line);
            }
            let mut view =
                View { now: context.now, packets: &self.packets, bytes: &self.bytes, random: &mut *context.random };
            let verdict = self.plugin.admit(&seen, line, &mut view);
            if !stays(verdict, &mut packet, None, context) {
                return;
            }
        }
        let size = u64::from(packet.size);
        self.lines[line].push(packet, context.now);
        self.packets[line] += 1;
        self.bytes[line] += size;
        self.total_packets += 1;
        self.total_bytes += size;
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        loop {
            let (line, mut queued) = self.pop(context)?;
            if self.failure.is_set() {
                return Some(queued);
            }
            let seen = Seen::of(&queued.packet, queued.since);
            let mut view =
                View { now: context.now, packets: &self.packets, bytes: &self.bytes, random: &mut *context.random };
            let verdict = self.plugin.release(&seen, line, &mut view);
            if stays(verdict, &mut queued.packet, Some(queued.since), context) {
                return Some(queued);
            }
        }
    }

    fn packets(&self) -> u64 {
        self.total_packets
    }

    fn bytes(&self) -> u64 {
        self.total_bytes
    }

    fn set_link_rate(&mut self, rate: Rate) {
        self.plugin.set_link_rate(rate);
    }

    fn timer_interval(&self) -> Option<Duration> {
        let interval = self.plugin.timer_interval();
        if interval == Some(Duration::ZERO) {
            self.fail("timer_interval", "is zero; a timer needs an interval above zero");
            return None;
        }
        interval
    }

    fn on_timer(&mut self, now: Time) {
        if !self.failure.is_set() {
            self.plugin.on_timer(now, &self.packets, &self.bytes);
        }
    }

    fn tell_state(&self, _now: Time, tell: &mut Tell<'_>) {
        if !self.failure.is_set() {
            self.plugin.tell_state(&mut checked(|name, what| self.fail(name, what), tell));
        }
    }
}
