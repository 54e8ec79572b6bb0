//! Compound TCP: Tan et al. 2006.

use serde_json::{Value, json};
use sojourn_engine::tcp::window::Window;

use super::flow::{Flow, MSS, assert_close, milliseconds, number, rows};

/// Without a queue Compound's window grows by alpha win^k = win^(3/4) / 8 per round trip (Tan et al. 2006), and by
/// Reno's one segment at and below the low window of 38 (draft section 6). A backlog below gamma has no effect.
#[test]
fn growth_without_queue() {
    let rows = [(10000.0, 125.0), (1296.0, 27.0), (256.0, 8.0), (81.0, 3.375), (38.0, 1.0), (16.0, 1.0)];
    for (window, growth) in rows {
        let mut flow = Flow::new("compound", json!({}), window, milliseconds(100.0));
        for _ in 0..window as u64 {
            flow.ack();
        }
        assert_close("growth before the round ends", flow.segments() - window, 1.0, 0.001);
        flow.ack();
        assert_close("growth of a round", flow.segments() - window, growth, 0.001);
    }
    for (backlog, growth) in [(29.0, 8.0), (31.0, 1.0)] {
        let mut flow = Flow::new("compound", json!({}), 256.0, milliseconds(100.0));
        flow.ack();
        flow.rtt = milliseconds(100.0 / (1.0 - backlog / 256.0));
        flow.round();
        assert_close("growth of a round with a backlog", flow.segments() - 256.0, growth, 0.001);
    }
}

/// At a backlog of at least gamma the delay window falls by zeta times the backlog, at most to zero, and the sender
/// does not return to slow start. After one round from 10000 segments the delay window is 124 of 10125. A backlog of
/// 0.4 % is 40.5 segments.
#[test]
fn delay_window_decrease() {
    for (zeta, backlog, expected) in
        [(1.0, 0.004, 10125.0 + 1.0 - 40.5), (0.5, 0.004, 10125.0 + 1.0 - 20.25), (1.0, 0.5, 10125.0 + 1.0 - 124.0)]
    {
        let mut flow = Flow::new("compound", json!({"zeta": zeta}), 10000.0, milliseconds(100.0));
        flow.ack();
        flow.round();
        assert_close("window", flow.segments(), 10125.0, 0.001);
        flow.rtt = milliseconds(100.0 / (1.0 - backlog));
        let end = flow.una + 10125 * MSS;
        while flow.una < end {
            flow.ack();
        }
        assert_close("window after a round with a backlog", flow.segments(), expected, 0.01);
        assert!(!flow.window.in_slow_start());
    }
}

/// A flow that has grown from 256 segments for 20 rounds and thus has a loss window of 276.
fn compound_with_a_delay_window(parameters: Value) -> Flow {
    let mut flow = Flow::new("compound", parameters, 256.0, milliseconds(100.0));
    flow.ack();
    flow.rounds(20);
    assert!(flow.segments() > 400.0, "{}", flow.segments());
    flow
}

/// A loss reduces the window to (1 - beta) win and halves the loss window: dwnd = win (1 - beta) - cwnd / 2. After a
/// long queue has removed the delay window only the loss window remains, one segment larger after a round.
#[test]
fn reduction_on_loss() {
    for beta in [0.5, 0.25] {
        let mut flow = compound_with_a_delay_window(json!({"beta": beta}));
        let before = flow.segments();
        flow.lose();
        assert_close("window after a loss", flow.segments(), (1.0 - beta) * before, 0.01);
        flow.ack();
        flow.rtt = milliseconds(1000.0);
        flow.round();
        assert_close("loss window", flow.segments(), 276.0 / 2.0 + 1.0, 1.0);
    }
}

/// A timeout resets the delay window and the base RTT (draft section 3). If the path has become longer, the window then
/// grows at the full rate. The loss window is the whole window.
#[test]
fn timeout() {
    let mut flow = compound_with_a_delay_window(json!({}));
    flow.rtt = milliseconds(1000.0);
    flow.time_out();
    flow.window.cwnd = 256 * MSS;
    flow.ack();
    flow.round();
    assert_close("window after a round", flow.segments(), 256.0 + 8.0, 0.001);
    flow.rtt = milliseconds(10000.0);
    flow.rounds(2);
    assert_close("window without its delay window of 7", flow.segments(), 264.0 + 2.0 - 7.0, 1.0);
}

/// A loss that reduces the window to the low window halves it and removes the delay window, so a queue reduces it no
/// further.
#[test]
fn reno_at_low_window() {
    let mut flow = Flow::new("compound", json!({}), 50.0, milliseconds(100.0));
    flow.ack();
    flow.rounds(9);
    let before = flow.segments();
    assert!(before > 62.0 && before < 76.0, "{before}: a delay window, and half of it all within the low window");
    flow.lose();
    assert_close("window after the loss", flow.segments(), before / 2.0, 0.001);
    let after = flow.segments();
    flow.rtt = milliseconds(1000.0);
    flow.rounds(10);
    assert_close("window ten rounds later", flow.segments(), after + 10.0, 1.0);
}

/// On a loss gamma becomes (1 - lambda) gamma + lambda 3/4 diff_reno, from 5 to 30 (draft section 5). A fixed gamma
/// stays 30. Tested by whether the delay window grows with a backlog just below, and just above gamma.
#[test]
fn gamma_tuning() {
    let rows = [
        ("tuned", 1.0, 0.0, 5.0),
        ("tuned", 1.0, 20.0, 15.0),
        ("tuned", 1.0, 60.0, 30.0),
        ("tuned", 0.25, 0.0, 22.5),
        ("tuned", 0.25, 20.0, 26.25),
        ("fixed", 1.0, 0.0, 30.0),
    ];
    for (rule, lambda, diff_reno, gamma) in rows {
        for (backlog, grows) in [(gamma - 0.5, true), (gamma + 0.5, false)] {
            let base = 100.0;
            let mut flow =
                Flow::new("compound", json!({"gamma_rule": rule, "lambda": lambda}), 400.0, milliseconds(base));
            flow.ack();
            flow.rtt = milliseconds(base / (1.0 - diff_reno / 400.0));
            flow.round();
            flow.lose();
            let window = flow.segments();
            flow.rtt = milliseconds(base / (1.0 - backlog / window));
            flow.ack();
            flow.round();
            assert_eq!(flow.segments() > window + 2.0, grows, "{rule} {lambda} {diff_reno}: backlog {backlog}");
        }
    }
}

/// diff_reno is the backlog of the loss window alone (draft section 5): with a loss window of 276 of about 460 segments
/// and 20 of them queued, gamma becomes 15, not 25.
#[test]
fn gamma_from_loss_window() {
    for (backlog, grows) in [(14.5, true), (15.5, false)] {
        let mut flow = compound_with_a_delay_window(json!({"lambda": 1.0}));
        flow.rtt = milliseconds(100.0 / (1.0 - 20.0 / 276.0));
        flow.round();
        flow.lose();
        let window = flow.segments();
        flow.rtt = milliseconds(100.0 / (1.0 - backlog / window));
        flow.ack();
        flow.round();
        assert_eq!(flow.segments() > window + 2.0, grows, "backlog {backlog}");
    }
}

/// After a recovery that ends with less than the delay window, the loss window is two segments, and a queue reduces the
/// window to that.
#[test]
fn loss_window_minimum() {
    let mut flow = compound_with_a_delay_window(json!({"low_window": 0}));
    flow.lose();
    flow.window = Window { cwnd: 50 * MSS, ssthresh: 50 * MSS, mss: MSS };
    flow.ack();
    flow.rtt = milliseconds(10000.0);
    flow.rounds(3);
    assert!((2.0..=6.0).contains(&flow.segments()), "{:?}", flow.window);
}

/// A second loss within a round does not tune gamma again, since there is no new measurement (draft section 5).
#[test]
fn gamma_needs_new_measurement() {
    let mut flow = Flow::new("compound", json!({}), 800.0, milliseconds(100.0));
    flow.ack();
    flow.round();
    flow.lose();
    flow.lose();
    let window = flow.segments();
    flow.rtt = milliseconds(100.0 / (1.0 - 22.0 / window));
    flow.ack();
    flow.round();
    assert!(flow.segments() > window + 2.0, "gamma is 22.5 after one tuning, 18.1 after two");
}

/// The average window with a loss every 1/p segments and no queue agrees with table 1 of the draft.
#[test]
fn average_window() {
    for row in rows("congestion", "compound_average_window") {
        let (p, expected) = (number(&row["p"]), number(&row["window"]));
        let average = Flow::new("compound", json!({}), expected, milliseconds(100.0)).average_window(p);
        assert_close(&row.to_string(), average, expected, 0.05 * expected);
    }
}
