//! HyStart++: RFC 9406.

use sojourn_engine::tcp::congestion::Ack;
use sojourn_engine::tcp::slow_start::{SlowStart, SlowStartChoice};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::Duration;

use serde_json::{Value, json};

use super::flow::{MSS, milliseconds, number, rows};

/// A sender in its first slow start, with a window of 16 segments.
struct Sender {
    slow_start: SlowStart,
    window: Window,
    una: u64,
    nxt: u64,
    /// SND.NXT at the start of the round, whose acknowledgement ends it.
    round_end: u64,
}

impl Sender {
    fn new() -> Sender {
        Sender::with(&json!({}))
    }

    fn with(parameters: &Value) -> Sender {
        let window = Window { cwnd: 16 * MSS, ssthresh: u64::MAX, mss: MSS };
        let chosen: SlowStartChoice =
            serde_json::from_value(json!({"name": "hystart++", "parameters": parameters})).expect("valid parameters");
        let slow_start = SlowStart::new(chosen);
        Sender { slow_start, window, una: 0, nxt: window.cwnd, round_end: window.cwnd }
    }

    /// Processes an acknowledgement, after which the sender sends a full window. Returns the growth of the window.
    fn acknowledge(&mut self, bytes: u64, rtt: Duration) -> u64 {
        let before = self.window.cwnd;
        self.una += bytes;
        let (una, nxt) = (self.una, self.nxt);
        // The stack counts acknowledgements and credits one segment.
        let ack = Ack { acked: bytes, credit: bytes.min(MSS), rtt: Some(rtt), srtt: rtt, una, nxt, ..Ack::default() };
        let left = self.slow_start.increase(&mut self.window, &ack);
        if una >= self.round_end {
            self.round_end = nxt;
        }
        self.nxt = una + self.window.cwnd;
        assert!(left == 0 || self.window.ssthresh < u64::MAX);
        self.window.cwnd - before
    }

    /// Acknowledges the rest of the round, segment by segment.
    fn round(&mut self, rtt: Duration) {
        let end = self.round_end;
        while self.una < end && self.window.in_slow_start() {
            self.acknowledge((end - self.una).min(MSS), rtt);
        }
    }

    /// A sender that has just entered conservative slow start, after RTTs of 100 ms and then 120 ms.
    fn conservative() -> Sender {
        Sender::conservative_with(&json!({}))
    }

    fn conservative_with(parameters: &Value) -> Sender {
        let mut sender = Sender::with(parameters);
        sender.round(milliseconds(100.0));
        (0..8).for_each(|_| assert_eq!(sender.acknowledge(MSS, milliseconds(120.0)), MSS));
        sender
    }
}

/// Conservative slow start begins when the minimum RTT of a round exceeds that of the last round by at least the
/// threshold.
#[test]
fn rtt_threshold() {
    for row in rows("delay", "hystartpp_rtt_threshold") {
        let (last, threshold) = (number(&row["last_ms"]), number(&row["threshold_ms"]));
        for (rise, growth) in [(threshold - 0.01, MSS), (threshold, MSS / 4)] {
            let mut sender = Sender::new();
            sender.round(milliseconds(last));
            (0..8).for_each(|_| _ = sender.acknowledge(MSS, milliseconds(last) + milliseconds(rise)));
            assert_eq!(sender.acknowledge(MSS, milliseconds(last)), growth, "{row}, rise {rise} ms");
        }
    }
}

/// It needs N_RTT_SAMPLE = 8 samples in the round, and compares their minimum.
#[test]
fn minimum_samples() {
    for (low_sample, growth) in [(false, MSS / 4), (true, MSS)] {
        let mut sender = Sender::new();
        sender.round(milliseconds(100.0));
        for sample in 0..8 {
            let rtt = if low_sample && sample == 3 { 112.4 } else { 120.0 };
            assert_eq!(sender.acknowledge(MSS, milliseconds(rtt)), MSS, "sample {sample}");
        }
        assert_eq!(sender.acknowledge(MSS, milliseconds(120.0)), growth, "a low sample: {low_sample}");
    }
}

/// In the first round there is no earlier round to compare with, so slow start continues.
#[test]
fn first_round() {
    let mut sender = Sender::new();
    for segment in 0..16 {
        let rtt = milliseconds(if segment == 0 { 20.0 } else { 200.0 });
        assert_eq!(sender.acknowledge(MSS, rtt), MSS);
    }
    assert_eq!(sender.window.cwnd, 32 * MSS);
}

/// An acknowledgement grows the window by at most L = 8 segments, and in conservative slow start by
/// 1/CSS_GROWTH_DIVISOR of that, two segments. Fractions of a byte accumulate.
#[test]
fn growth() {
    let mut sender = Sender::new();
    for (segments, growth) in [(1, 1), (2, 2), (8, 8), (9, 8), (20, 8)] {
        assert_eq!(sender.acknowledge(segments * MSS, milliseconds(100.0)), growth * MSS, "{segments} segments");
    }
    let mut sender = Sender::conservative();
    assert_eq!(sender.acknowledge(2 * MSS, milliseconds(120.0)), MSS / 2);
    assert_eq!(sender.acknowledge(20 * MSS, milliseconds(120.0)), 2 * MSS);
    let growth: u64 = (0..4).map(|_| sender.acknowledge(1, milliseconds(120.0))).sum();
    assert_eq!(growth, 1);
}

/// Conservative slow start lasts CSS_ROUNDS = 5 rounds, including the one in which it began. ssthresh is then cwnd. It
/// begins at 40 segments with 22 left in its round. A round of n segments grows the window by n / 4. The next round is
/// the data in flight when the last acknowledgement of this one arrives: the window without the acknowledged bytes and
/// a quarter of them.
#[test]
fn conservative_rounds() {
    let mut sender = Sender::conservative();
    let (mut expected, mut in_round): (f64, f64) = (40.0, 22.0);
    for round in 1..=5 {
        assert_eq!(sender.window.ssthresh, u64::MAX, "before the end of round {round}");
        sender.round(milliseconds(120.0));
        expected += in_round / 4.0;
        let last_acknowledgement = if in_round.fract() == 0.0 { 1.0 } else { in_round.fract() };
        in_round = expected - 1.25 * last_acknowledgement;
        assert!((sender.window.segments() - expected).abs() < 0.01, "{} of {expected}", sender.window.segments());
    }
    assert_eq!(sender.window.ssthresh, sender.window.cwnd);
}

/// Slow start with HyStart++ resumes when the RTT of a later round is below that of the round in which conservative
/// slow start began.
#[test]
fn slow_start_resumes() {
    for (rtt, growth) in [(119.0, MSS), (120.0, MSS / 4)] {
        let mut sender = Sender::conservative();
        sender.round(milliseconds(120.0));
        (0..8).for_each(|_| assert_eq!(sender.acknowledge(MSS, milliseconds(rtt)), MSS / 4));
        assert_eq!(sender.acknowledge(MSS, milliseconds(rtt)), growth, "{rtt} ms");
    }
    // An RTT above that of the round in which slow start resumed starts conservative slow start again, with all its
    // rounds.
    let mut sender = Sender::conservative();
    (0..3).for_each(|_| sender.round(milliseconds(120.0)));
    sender.round(milliseconds(100.0));
    (0..4).for_each(|_| sender.round(milliseconds(120.0)));
    assert_eq!(sender.window.ssthresh, u64::MAX);
    sender.round(milliseconds(120.0));
    assert_eq!(sender.window.ssthresh, sender.window.cwnd);
}

/// With a finite ssthresh, slow start is the standard one (RFC 9406 section 4.3).
#[test]
fn first_slow_start_only() {
    let mut sender = Sender::conservative();
    sender.slow_start.restart();
    sender.window = Window { cwnd: MSS, ssthresh: 1000 * MSS, mss: MSS };
    assert_eq!(sender.acknowledge(2 * MSS, milliseconds(120.0)), MSS);
    (0..5).for_each(|round| sender.round(milliseconds(120.0 * f64::from(round))));
    assert!(sender.window.ssthresh == 1000 * MSS);
}

/// Section 4.2: conservative slow start grows by 1 / CSS_GROWTH_DIVISOR and ends slow start after CSS_ROUNDS rounds, whatever they are
/// set to. The first of these rounds is the one in which it begins.
#[test]
fn constants_are_parameters() {
    for (divisor, rounds) in [(2, 1), (5, 3)] {
        let mut sender = Sender::conservative_with(&json!({"growth_divisor": divisor, "rounds": rounds}));
        assert_eq!(sender.acknowledge(MSS, milliseconds(120.0)), MSS / divisor);
        let mut lasted = 0;
        while sender.window.in_slow_start() {
            sender.round(milliseconds(120.0));
            lasted += 1;
        }
        assert_eq!(lasted, rounds);
    }
    let refused = serde_json::from_value::<SlowStartChoice>(json!({"name": "hystart++", "parameters": {"rounds": 0}}));
    assert!(refused.is_err(), "{refused:?}");
}
