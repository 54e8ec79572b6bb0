//! HyStart++ (RFC 9406): when the round-trip time increases, slow start continues at a quarter of its growth rate for
//! several rounds. It returns to the full rate if the round-trip time decreases again.

use std::sync::Arc;

use crate::tcp::congestion::Ack;
use crate::tcp::window::Window;
use crate::time::Duration;

parameters! {
    pub struct HyStartPlusPlusParameters {
        delay_minimum: Duration = Duration::from_milliseconds(4), in 0 .. 1e15, "Least rise of the RTT that slows the growth", "RFC 9406 section 4.3, MIN_RTT_THRESH";
        delay_maximum: Duration = Duration::from_milliseconds(16), in 0 .. 1e15, "Greatest rise of the RTT that is needed to slow the growth", "RFC 9406 section 4.3, MAX_RTT_THRESH";
        delay_divisor: u64 = 8, in 1 .. 1000, "The growth slows when a round's RTT rises by the last round's over this", "RFC 9406 section 4.3, MIN_RTT_DIVISOR";
        delay_samples: u64 = 8, in 1 .. 1000, "RTT samples of a round before its RTT counts", "RFC 9406 section 4.3, N_RTT_SAMPLE";
        growth_divisor: u64 = 4, in 1 .. 1000, "Divisor of the growth in conservative slow start", "RFC 9406 section 4.3, CSS_GROWTH_DIVISOR";
        rounds: u64 = 5, in 1 .. 1000, "Rounds of conservative slow start", "RFC 9406 section 4.3, CSS_ROUNDS";
        limit: u64 = 8, in 1 .. 1000000, "Segments that an acknowledgement counts for, at most", "RFC 9406 section 4.3, L of a sender that does not pace";
    }
}

#[derive(Clone, Debug, Default)]
pub struct HyStartPlusPlus {
    parameters: Arc<HyStartPlusPlusParameters>,
    /// windowEnd: the round ends when this sequence number is acknowledged.
    window_end: Option<u64>,
    last_round_rtt: Option<Duration>,
    current_round_rtt: Option<Duration>,
    /// The number of samples in this round.
    samples: u64,
    conservative: Option<Conservative>,
    /// Acknowledged bytes for which conservative slow start has not yet increased the window.
    rest: u64,
}

/// The state of conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// cssBaselineMinRtt: the RTT of the round in which it began.
    baseline: Duration,
    /// The number of rounds that have ended in it. The first of them began before it.
    rounds: u64,
}

about! { HyStartPlusPlus:
    name: "hystart++",
    aliases: ["hystartpp"],
    title: "HyStart++",
    class: "hybrid",
    year: 2023,
    source: "RFC 9406",
    deviations: "L (limit) is 8 segments even if the stack paces; by section 4.2 the window grows by the bytes \
                 acknowledged, whatever the stack counts, and by section 4.3 only the first slow start is HyStart++",
}

impl HyStartPlusPlus {
    pub(super) fn new(parameters: Arc<HyStartPlusPlusParameters>) -> HyStartPlusPlus {
        HyStartPlusPlus { parameters, ..HyStartPlusPlus::default() }
    }

    /// The growth of the window for an acknowledgement, in bytes (section 4.2).
    pub fn growth(&mut self, window: &Window, ack: &Ack) -> u64 {
        let bytes = ack.acked.min(self.parameters.limit * window.mss);
        if self.conservative.is_none() {
            return bytes;
        }
        self.rest += bytes;
        let growth = self.rest / self.parameters.growth_divisor;
        self.rest %= self.parameters.growth_divisor;
        growth
    }

    /// Takes the RTT sample of an acknowledgement. Returns whether slow start should end (section 4.2).
    pub fn has_ended(&mut self, ack: &Ack) -> bool {
        let window_end = *self.window_end.get_or_insert(ack.nxt);
        if let Some(rtt) = ack.rtt {
            self.current_round_rtt = Some(self.current_round_rtt.map_or(rtt, |current| current.min(rtt)));
            self.samples += 1;
        }
        if self.samples >= self.parameters.delay_samples {
            self.choose_phase();
        }
        ack.una >= window_end && self.end_round(ack)
    }

    fn choose_phase(&mut self) {
        let (Some(current), last) = (self.current_round_rtt, self.last_round_rtt) else { return };
        match &self.conservative {
            None => {
                let HyStartPlusPlusParameters { delay_minimum, delay_maximum, delay_divisor, .. } = *self.parameters;
                let rose = last.is_some_and(|last| {
                    current >= last + Duration(last.0 / delay_divisor).max(delay_minimum).min(delay_maximum)
                });
                self.conservative = rose.then_some(Conservative { baseline: current, rounds: 0 });
            }
            Some(conservative) if current < conservative.baseline => {
                self.conservative = None;
                self.rest = 0;
            }
            Some(_) => {}
        }
    }

    /// Starts the next round. Returns whether conservative slow start is over.
    fn end_round(&mut self, ack: &Ack) -> bool {
        self.window_end = Some(ack.nxt);
        self.last_round_rtt = self.current_round_rtt.take();
        self.samples = 0;
        let Some(conservative) = &mut self.conservative else { return false };
        conservative.rounds += 1;
        conservative.rounds >= self.parameters.rounds
    }
}
