//! Differences between loss recoveries: Fall and Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP",
//! SIGCOMM CCR 26 (1996), sections 4 and 5. Also explicit congestion notification, which needs no recovery (RFC 3168).

use crate::support::{MS, Path, S, acknowledge_every_segment, finite, tcp_flows};
use serde_json::json;
use sojourn_engine::result::RunResult;
use sojourn_engine::tcp::ecn::EcnKind;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::recovery::RecoveryKind;

/// Transfers segments over a path of 100 ms that loses only the given data packets. Only the first flight of slow start
/// precedes them: number 40 is sent in a window of 32.
fn transfer(algorithm: &str, segments: u64, lost: &[u64]) -> RunResult {
    transfer_over(acknowledge_every_segment(), algorithm, segments, lost)
}

fn transfer_over(stack: StackProfile, algorithm: &str, segments: u64, lost: &[u64]) -> RunResult {
    let mut path = Path::new(100_000_000, 100 * MS);
    path.stack = StackProfile { initial_window: 1, limited_transmit: false, ..stack };
    if algorithm == "newreno" {
        path.stack = StackProfile { recovery: RecoveryKind::NewReno, sack: false, ..path.stack };
    }
    path.flows = vec![finite(algorithm, segments * 1448)];
    path.warm_up = 0;
    path.drop = json!({ "listed": lost });
    path.run()
}

fn counts(algorithm: &str, lost: &[u64]) -> (u64, u64, u64) {
    counts_of(algorithm, &transfer(algorithm, 300, lost))
}

fn counts_of(algorithm: &str, result: &RunResult) -> (u64, u64, u64) {
    let tcp = result.flows[0].tcp.as_ref().expect("a TCP flow");
    assert!(tcp.completed.is_some(), "{algorithm} does not finish");
    (tcp.statistics.retransmissions, tcp.statistics.fast_recoveries, tcp.statistics.timeouts)
}

/// Section 4: all recover from one loss without a timeout, and all except Tahoe retransmit only the lost segment.
#[test]
fn single_loss() {
    for algorithm in ["reno", "newreno", "sack", "fack"] {
        assert_eq!(counts(algorithm, &[40]), (1, 1, 0), "{algorithm}");
    }
    let (retransmissions, episodes, timeouts) = counts("tahoe", &[40]);
    assert_eq!((episodes, timeouts), (1, 0));
    assert!(retransmissions >= 1, "{retransmissions}");
}

/// Section 4: Reno's first partial acknowledgement ends its recovery. Each further loss halves the window again until
/// there are too few duplicates, and Reno waits for a timeout. The others never do.
#[test]
fn four_losses() {
    let lost = [40, 42, 44, 46];
    let (_, episodes, timeouts) = counts("reno", &lost);
    assert!(timeouts >= 1, "{timeouts} timeouts after {episodes} recoveries");
    for algorithm in ["newreno", "sack", "fack"] {
        assert_eq!(counts(algorithm, &lost), (4, 1, 0), "{algorithm}");
    }
    let (_, _, timeouts) = counts("tahoe", &lost);
    assert_eq!(timeouts, 0);
}

/// RFC 6582 section 3.2 step 3: each partial acknowledgement retransmits the first unacknowledged segment, so that losses in one
/// window cost a retransmission and a round trip each and no timeout. Also with algorithms that set the window themselves.
#[test]
fn partial_acks_retransmit() {
    for algorithm in ["newreno", "cubic", "bbr", "bbr3"] {
        let stack = StackProfile { recovery: RecoveryKind::NewReno, sack: false, ..acknowledge_every_segment() };
        for lost in [&[40, 42, 44, 46][..], &[40, 41], &[40, 43, 48, 50, 52, 54]] {
            let counts = counts_of(algorithm, &transfer_over(stack.clone(), algorithm, 300, lost));
            assert_eq!(counts, (lost.len() as u64, 1, 0), "{algorithm} with losses of {lost:?}");
        }
    }
}

/// Two losses in a window: Reno halves it twice, unless it may not repeat fast retransmit before the data sent before
/// the first one are acknowledged (RFC 6582 section 3.2 step 2; bugFix_ of ns-2): then the second loss waits for a
/// timeout.
#[test]
fn reno_two_losses() {
    assert_eq!(counts("reno", &[40, 42]), (2, 2, 0));
    let once = StackProfile { repeated_fast_retransmit: false, ..acknowledge_every_segment() };
    let (_, episodes, timeouts) = counts_of("reno", &transfer_over(once.clone(), "reno", 300, &[40, 42]));
    assert_eq!((episodes, timeouts), (1, 1));
    assert_eq!(counts_of("reno", &transfer_over(once, "reno", 300, &[40])), (1, 1, 0));
}

/// Section 5: without SACK a sender repairs one loss per round trip, with SACK many. Tahoe's slow start is between
/// these. The stream ends with the flight that has the losses, so that its duration is that of the repair.
#[test]
fn many_losses() {
    let lost: Vec<u64> = (40..56).step_by(2).collect();
    let completed = |algorithm: &str| {
        let completed = transfer(algorithm, 64, &lost).flows[0].tcp.as_ref().and_then(|tcp| tcp.completed);
        completed.expect("it finishes").seconds()
    };
    let round_trips = lost.len() as f64;
    let advantage = (completed("newreno") - completed("sack")) / 0.1;
    assert!(advantage > round_trips / 2.0, "{advantage} of {round_trips} round trips");
    assert!(completed("tahoe") < completed("newreno"));
}

/// The stack of RFC 8985 with a minimum timeout of one second, so that a timeout is visible.
fn rack() -> StackProfile {
    StackProfile { recovery: RecoveryKind::Rack, duplicate_sack: true, ..acknowledge_every_segment() }
}

fn completion(stack: StackProfile, lost: &[u64]) -> (f64, u64) {
    let mut path = Path::new(100_000_000, 100 * MS);
    path.stack = stack;
    path.flows = vec![finite("newreno", 100 * 1448)];
    path.warm_up = 0;
    path.drop = json!({ "listed": lost });
    let tcp = path.run().flows.remove(0).tcp.expect("a TCP flow");
    (tcp.completed.expect("it finishes").seconds(), tcp.statistics.timeouts)
}

/// RFC 8985 section 7.2: a lost tail of one segment is probed after two round trips and the maximum delay of an
/// acknowledgement, 200 ms. If the probe repairs the loss, it takes one more round trip. Without the probe the timeout
/// would be one second.
#[test]
fn tail_loss_probe() {
    let (undisturbed, _) = completion(rack(), &[]);
    let (probed, timeouts) = completion(rack(), &[100]);
    assert_eq!(timeouts, 0);
    assert!((probed - undisturbed - 0.5).abs() < 0.01, "{} s later", probed - undisturbed);
    let (waited, timeouts) = completion(StackProfile { recovery: RecoveryKind::Prr, ..rack() }, &[100]);
    assert_eq!(timeouts, 1);
    assert!(waited - undisturbed > 1.0, "{} s later", waited - undisturbed);
}

/// Section 3.1 of RFC 8985: the acknowledgement of the probe also reveals the loss of many segments at the tail.
#[test]
fn long_tail_loss() {
    let lost: Vec<u64> = (92..=99).collect();
    let (_, timeouts) = completion(rack(), &lost);
    assert_eq!(timeouts, 0);
}

/// RFC 8985 section 3.2: RACK detects a lost retransmission by time, counting SACKs never does. Of 100 segments number
/// 40 is lost. Its retransmission is the transmission whose loss as well costs a timeout with counting.
#[test]
fn lost_retransmission() {
    let find_retransmission = |stack: StackProfile| {
        (41..101)
            .find(|again| completion(stack.clone(), &[40, *again]).1 > 0 && completion(stack.clone(), &[*again]).1 == 0)
    };
    let by_counting = StackProfile { recovery: RecoveryKind::Prr, ..rack() };
    let again = find_retransmission(by_counting).expect("by counting, the loss of the retransmission costs a timeout");
    for second in [again - 1, again, again + 1] {
        assert_eq!(completion(rack(), &[40, second]).1, 0, "losses 40 and {second}");
    }
}

/// Of 100 segments numbers 91 to 95 are lost, and the first of their retransmissions, the transmissions 101 to 105, as well. Those
/// behind it are acknowledged selectively, with the echo of segment 90: by RFC 8985 section 6.2 such an echo tells nothing of
/// retransmissions, and only the timeout repairs the loss. There Linux goes by the RTT alone (net/ipv4/tcp_recovery.c,
/// tcp_rack_advance) and needs none.
#[test]
fn lost_retransmission_before_others() {
    let lost: Vec<u64> = (91..=95).chain([101]).collect();
    assert_eq!(completion(StackProfile { timestamps: true, ..rack() }, &lost).1, 1);
    let linux = StackProfile::of_name("linux-6").expect("a profile");
    assert_eq!(completion(linux, &lost).1, 0);
}

/// Law ecn-equals-drop (RFC 3168 section 6.1.2): a flow whose packets are marked instead of dropped loses none, and
/// reduces its window once per round trip with marks. CoDel marks single packets, so there are as many reductions as
/// marks, except for marks in the same window.
#[test]
fn reductions_by_marks() {
    for ecn in [EcnKind::Classic, EcnKind::Accurate] {
        let mut path = Path::new(10_000_000, 40 * MS);
        path.queue = json!({"name": "codel", "limit": {"packets": 1000}, "parameters": {"ecn": true}});
        path.stack = StackProfile { ecn, ..StackProfile::default() };
        let result = path.run();
        let queue = &result.queues[0].statistics.window;
        let sender = &result.flows[0].tcp.as_ref().expect("a TCP flow").statistics;
        assert!(queue.marks > 20, "{ecn:?}: {queue:?}");
        assert_eq!((queue.drops_early, queue.drops_overflow), (0, 0), "{ecn:?}");
        assert_eq!((sender.retransmissions, sender.fast_recoveries, sender.timeouts), (0, 0, 0), "{ecn:?}");
        assert!(
            sender.mark_reductions <= queue.marks && sender.mark_reductions > queue.marks / 2,
            "{ecn:?}: {sender:?}"
        );
        assert!(path.goodput(&result) > 0.75 * 9.65e6, "{ecn:?}: {}", path.goodput(&result));
    }
}

/// With the same queue and flows without ECN packets are dropped instead of marked, and the sender's share of the link
/// is the same.
#[test]
fn marks_and_drops() {
    let run = |ecn: EcnKind| {
        let mut path = Path::new(10_000_000, 40 * MS);
        path.queue = json!({"name": "codel", "limit": {"packets": 1000}, "parameters": {"ecn": true}});
        path.stack = StackProfile { ecn, ..StackProfile::default() };
        path.flows = vec![tcp_flows("newreno", 4, S)];
        let result = path.run();
        (path.goodput(&result), result.queues[0].statistics.mean_packets)
    };
    let ((with, queue_with), (without, queue_without)) = (run(EcnKind::Classic), run(EcnKind::Off));
    assert!((with / without - 1.0).abs() < 0.03, "{with} and {without} bit/s");
    assert!((queue_with / queue_without - 1.0).abs() < 0.3, "{queue_with} and {queue_without} packets");
}

/// RFC 8511: a sender with ABE reduces its window less at a mark, and so uses more of a path with a short queue.
#[test]
fn alternative_backoff() {
    for algorithm in ["newreno", "cubic"] {
        let goodput = |abe: bool| {
            let mut path = Path::new(20_000_000, 100 * MS);
            path.queue = json!({"name": "codel", "limit": {"packets": 1000}, "parameters": {"ecn": true}});
            path.stack = StackProfile { ecn: EcnKind::Classic, abe, ..StackProfile::default() };
            path.flows = vec![tcp_flows(algorithm, 1, 0)];
            let result = path.run();
            path.goodput(&result)
        };
        let (with, without) = (goodput(true), goodput(false));
        assert!(with > 1.02 * without, "{algorithm}: {with} and {without} bit/s");
    }
}
