//! Recovery of ns-3 by its sources, tcp-socket-base.cc, tcp-tx-buffer.cc and tcp-prr-recovery.cc of releases 3.30 (`ns3_classic`) and 3.48
//! (`ns3_prr`), acknowledgement by acknowledgement. Segments are numbered from zero. Twenty are sent at once.

use serde_json::json;

use super::rack::Rig;

fn twenty_segments(recovery: &str) -> Rig {
    let settings = json!({
        "recovery": recovery, "duplicate_sack": false, "flight_size": "pipe", "counting": "acknowledgements",
    });
    Rig::with(&settings, 20, None)
}

/// The first three segments are lost. The third duplicate enters recovery with 16 segments in flight.
fn three_lost(recovery: &str) -> Rig {
    let mut rig = twenty_segments(recovery);
    for (end, sent) in [(4, 20), (5, 21), (6, 0)] {
        assert_eq!(rig.ack(200 + end, 0, &[(3, end)]), [sent]);
    }
    rig
}

/// One segment is lost, eight leave after its retransmission, and an acknowledgement that ends recovery shows that 23 is lost too.
fn lost_at_the_end(recovery: &str) -> Rig {
    let mut rig = twenty_segments(recovery);
    for (end, sent) in [(2, 20), (3, 21), (4, 0)] {
        assert_eq!(rig.ack(200 + end, 0, &[(1, end)]), [sent]);
    }
    assert_eq!(rig.ack(220, 0, &[(1, 22)]), (22..30).collect::<Vec<_>>(), "one in flight of nine");
    rig
}

/// 3.30, ProcessAck: a partial acknowledgement makes the first segment one that has not been sent again
/// (DeleteRetransmittedFlagFromHead), so that DoRetransmit sends it once more. Only the first one restarts the timer.
#[test]
fn classic_resends_first() {
    let mut rig = three_lost("ns3_classic");
    assert_eq!(rig.ack(217, 0, &[(3, 17)]), [1, 2], "six in flight of eight");
    assert_eq!(rig.ack(310, 1, &[(3, 17)]), [1, 22]);
    rig.assert_due(310 + 1000);
    assert_eq!(rig.ack(320, 2, &[(3, 17)]), [2, 23]);
    rig.assert_due(310 + 1000);
}

/// 3.30, DoRetransmit: if no segment is known to be lost, a partial acknowledgement sends a new one, though twelve are in flight
/// and the window is nine.
#[test]
fn classic_sends_past_window() {
    let mut rig = twenty_segments("ns3_classic");
    for (end, sent) in [(2, 20), (3, 21), (4, 0)] {
        assert_eq!(rig.ack(200 + end, 0, &[(1, end)]), [sent]);
    }
    assert!(rig.ack(210, 0, &[(1, 10)]).is_empty());
    assert_eq!(rig.ack(310, 10, &[]), [22]);
}

/// TcpTxBuffer::Update leaves `m_retrans` as it is: a retransmission that is SACKed is in flight until it is acknowledged.
#[test]
fn sacked_retransmission_in_flight() {
    let mut rig = three_lost("ns3_classic");
    assert_eq!(rig.ack(217, 0, &[(3, 17)]), [1, 2]);
    assert!(rig.ack(310, 0, &[(1, 2), (3, 17)]).is_empty());
}

/// 3.30: the end of recovery does not enter the next one; NextSeg sends what is lost in CA_OPEN. DupAck enters after three
/// acknowledgements with SACK blocks, though these repeat what is known, and then sends a new segment, since the lost one has been
/// sent again.
#[test]
fn classic_reenters_by_duplicates() {
    let mut rig = lost_at_the_end("ns3_classic");
    assert_eq!(rig.ack(310, 23, &[(24, 27)]), [23, 30, 31, 32, 33, 34], "three in flight of nine");
    assert_eq!(rig.ack(320, 23, &[(24, 28)]), [35]);
    assert!(rig.ack(321, 23, &[(24, 28)]).is_empty());
    assert_eq!(rig.ack(322, 23, &[(24, 28)]), [36]);
    assert!(rig.ack(323, 23, &[(24, 31)]).is_empty(), "seven in flight of four");
}

/// 3.48: the next acknowledgement that SACKs new data enters, since the first segment is lost (`IsLost (m_highRxAckMark)`), and
/// EnterRecovery sends that again, though it is under way.
#[test]
fn proportional_reenters_by_loss() {
    let mut rig = lost_at_the_end("ns3_prr");
    assert_eq!(rig.ack(310, 23, &[(24, 27)]), [23, 30, 31, 32, 33, 34], "three in flight of nine");
    assert!(rig.ack(320, 23, &[(24, 27)]).is_empty());
    assert_eq!(
        rig.ack(321, 23, &[(24, 28)]),
        [23, 35],
        "eight in flight, which the repetition leaves so, and one more for the duplicate"
    );
}

/// 3.48, TcpPrrRecovery: what is in flight, 16 segments, is halved. Each duplicate counts as two segments, so that each sends one.
/// A partial acknowledgement counts as one, half a segment is not sent, and nothing is sent past the window, since the first segment has
/// been sent again.
#[test]
fn proportional_reduction() {
    let mut rig = three_lost("ns3_prr");
    for (end, sent) in [(7, 1), (8, 2), (9, 22)] {
        assert_eq!(rig.ack(200 + end, 0, &[(3, end)]), [sent]);
    }
    assert!(rig.ack(310, 1, &[(3, 9)]).is_empty());
    rig.assert_due(310 + 1000);
    assert_eq!(rig.ack(320, 2, &[(3, 9)]), [23]);
    rig.assert_due(310 + 1000);
}

/// NextSeg after a timeout: 3.30 sends all segments that are not SACKed. 3.48 sends those below the highest SACKed one and then new
/// ones.
#[test]
fn lost_above_highest_sacked() {
    for (recovery, third) in [("ns3_classic", 6), ("ns3_prr", 21)] {
        let mut rig = twenty_segments(recovery);
        assert_eq!(rig.ack(200, 0, &[(5, 6)]), [20]);
        assert_eq!(rig.expire(1100), [0]);
        assert_eq!(rig.ack(1200, 1, &[(5, 6)]), [1, 2]);
        assert_eq!(rig.ack(1300, 3, &[(5, 6)]), [3, 4, third], "{recovery}");
    }
}

/// ReTxTimeout: the second timeout of a segment, with one in flight, lowers ssthresh too, to two segments, so that slow start ends
/// there. (SetSentListLost forgets that the segment was sent again before IsHeadRetransmitted asks for it.)
#[test]
fn repeated_timeout_reduces() {
    for recovery in ["ns3_classic", "ns3_prr"] {
        let mut rig = twenty_segments(recovery);
        assert_eq!(rig.expire(1100), [0]);
        assert_eq!(rig.expire(3100), [0]);
        assert_eq!(rig.ack(3200, 1, &[]), [1, 2]);
        assert_eq!(rig.ack(3300, 2, &[]), [3], "{recovery}");
    }
}
