//! Recovery of ns-2.35's Agent/TCP/Linux by its source, tcp/tcp-linux.cc and tcp/scoreboard1.cc, acknowledgement by acknowledgement.
//! Segments are numbered from zero. Twenty are sent at once.

use serde_json::json;

use super::rack::Rig;

fn twenty_segments() -> Rig {
    Rig::with(&json!({"recovery": "ns2_linux", "duplicate_sack": false}), 20, None)
}

/// UpdateScoreBoard: a segment is lost once the fourth above it is SACKed, `lost_seq_threshold = fack_ - (dupack_threshold + 1)`.
/// send_much: before that each SACK lets one new segment leave. After it the limit is one more than is in flight, and each
/// segment sent takes one off, so that every second acknowledgement sends one.
#[test]
fn rate_halving() {
    let mut rig = twenty_segments();
    let expected: [&[u64]; 8] = [&[20], &[21], &[0], &[1], &[], &[22], &[], &[23]];
    for (end, sent) in (3..).zip(expected) {
        assert_eq!(rig.ack(200 + end, 0, &[(2, end)]), sent, "segments 2 to {} SACKed", end - 1);
    }
}

/// UpdateScoreBoard: a retransmission is lost once a segment that was new after it is SACKed (`GetSndNxt() <= fack_`), as often as
/// that happens. Half of the first window is kept in flight.
#[test]
fn repeated_retransmission() {
    let mut rig = twenty_segments();
    assert_eq!(rig.ack(205, 0, &[(1, 5)]), [0]);
    assert_eq!(rig.ack(206, 0, &[(1, 20)]), (20..29).collect::<Vec<_>>());
    assert_eq!(rig.ack(305, 0, &[(1, 21)]), [0, 29], "20 was sent after the retransmission");
    assert_eq!(rig.ack(306, 0, &[(1, 29)]), (30..38).collect::<Vec<_>>(), "28 was sent before the second");
    assert_eq!(rig.ack(405, 0, &[(1, 30)]), [0, 38]);
}

/// UpdateScoreBoard: a retransmission is also lost once the fifth after it has arrived, `GetRtx() + dupack_threshold + 1 <
/// acked_rtx_id_`.
#[test]
fn overtaken_by_retransmissions() {
    let mut rig = twenty_segments();
    let lost_then_new: Vec<u64> = (0..8).chain([20, 21]).collect();
    assert_eq!(rig.ack(205, 0, &[(8, 20)]), lost_then_new, "half of a window");
    for arrived in 1..5 {
        assert!(!rig.ack(300 + arrived, 0, &[(1, arrived + 1), (8, 20)]).contains(&0), "segment {arrived}");
    }
    assert!(rig.ack(305, 0, &[(1, 6), (8, 20)]).contains(&0));
}

/// time_processing: every acknowledgement restarts the retransmission timer, here of a second, also one of nothing new.
#[test]
fn duplicates_restart_timer() {
    let mut rig = twenty_segments();
    for now in [205, 306, 407] {
        rig.ack(now, 0, &[(1, now / 20)]);
        rig.assert_due(now + 1000);
    }
}

/// tcp_fastretrans_alert: the end of a recovery clears the scoreboard, although 20 is missing by then. UpdateScoreBoard: of the
/// segments up to the fourth below the highest SACKed, those that the next block does not repeat are lost, and sent again,
/// 21 to 24 too, which have arrived.
#[test]
fn forgotten_scoreboard() {
    let mut rig = twenty_segments();
    rig.ack(205, 0, &[(1, 5)]);
    assert_eq!(rig.ack(206, 0, &[(1, 20)]), (20..29).collect::<Vec<_>>());
    assert_eq!(rig.ack(305, 20, &[(21, 29)]), [29], "nine in flight of ten");
    assert_eq!(rig.ack(405, 20, &[(25, 30)]), (20..25).collect::<Vec<_>>(), "half of ten");
}
