//! Recovery of Linux without SACK by its source, net/ipv4/tcp_input.c and tcp_recovery.c, acknowledgement by acknowledgement. Segments
//! are numbered from zero. The round-trip time is 100 ms.

use serde_json::{Value, json};

use super::rack::{MSS, Rig};

fn settings(timestamps: bool) -> Value {
    json!({
        "sack": false,
        "duplicate_sack": false,
        "recovery": "linux_newreno",
        "timestamps": timestamps,
        "counting": "segments",
        "flight_size": "window",
        "ecn": "classic",
        "prr_on_marks": true,
    })
}

fn rig(initial_window: u64) -> Rig {
    Rig::with(&settings(false), initial_window, None)
}

/// What each of so many duplicates lets leave, from this time on, a millisecond apart.
fn duplicates(rig: &mut Rig, milliseconds: u64, next: u64, count: u64) -> Vec<Vec<u64>> {
    (0..count).map(|each| rig.ack(milliseconds + each, next, &[])).collect()
}

/// tcp_add_reno_sack, tcp_newreno_mark_lost, tcp_cwnd_reduction: each duplicate is a segment less in flight, so that the first two
/// let new ones leave; the third makes the first segment lost, which takes the place of a segment for
/// every second that arrives, until five are in flight.
#[test]
fn duplicates_count_as_arrivals() {
    let mut rig = rig(10);
    let expected: [&[u64]; 9] = [&[10], &[11], &[0], &[], &[12], &[], &[13], &[], &[]];
    assert_eq!(duplicates(&mut rig, 200, 0, 9), expected);
    assert_eq!((rig.sender.window().ssthresh, rig.sender.statistics.fast_recoveries), (5 * MSS, 1));
}

/// tcp_remove_reno_sacks, tcp_newreno_mark_lost: segments 0 and 5 are lost. The acknowledgement of the first five takes four duplicates
/// away and counts as one arrival; the next segment is then lost, and leaves once the reduction has room.
#[test]
fn partial_acknowledgement() {
    let mut rig = rig(10);
    duplicates(&mut rig, 200, 0, 8);
    assert_eq!(rig.ack(300, 5, &[]), [5], "the ninth arrival, of which every second lets a segment leave");
    assert_eq!(rig.sender.statistics.retransmissions, 2);
}

/// tcp_is_non_sack_preventing_reopen: a recovery goes on until something above its end is acknowledged, and duplicates of that end
/// start no other.
#[test]
fn recovery_holds() {
    let mut rig = rig(10);
    duplicates(&mut rig, 200, 0, 9);
    rig.ack(300, 12, &[]);
    duplicates(&mut rig, 301, 12, 4);
    assert_eq!((rig.sender.statistics.fast_recoveries, rig.sender.statistics.retransmissions), (1, 1));
    rig.ack(400, 13, &[]);
    assert_eq!(rig.sender.window().cwnd, 5 * MSS, "ssthresh");
    assert_eq!(duplicates(&mut rig, 401, 13, 3).last().map(Vec::as_slice), Some(&[13][..]));
    assert_eq!(rig.sender.statistics.fast_recoveries, 2);
}

/// tcp_try_undo_partial, tcp_check_sack_reordering: an acknowledgement that echoes a timestamp of before the retransmission shows that
/// the segment was late, not lost. The reduction is undone, and five segments have been overtaken, so that as many duplicates are
/// needed from then on.
#[test]
fn late_segment_undone() {
    for (echoed, undone) in [(100, 1), (202, 0)] {
        let mut rig = Rig::with(&settings(true), 10, None);
        duplicates(&mut rig, 200, 0, 3);
        rig.ack_echoing(210, 5, echoed);
        let window = rig.sender.window();
        assert_eq!(rig.sender.statistics.undone_reductions, undone, "timestamp of {echoed} ms");
        assert_eq!(window.ssthresh == u64::MAX, undone == 1);
        if undone == 1 {
            assert!(window.cwnd >= 10 * MSS);
            duplicates(&mut rig, 211, 5, 4);
            assert_eq!(rig.sender.statistics.fast_recoveries, 1);
            assert!(rig.ack(215, 5, &[]).contains(&5));
            assert_eq!(rig.sender.statistics.fast_recoveries, 2);
        }
    }
}

/// tcp_check_reno_reordering: of one segment in flight there can be no duplicate, which therefore counts as reordering by one segment.
/// The next duplicate, with more in flight, is enough for a fast retransmit.
#[test]
fn needless_duplicate() {
    let mut rig = Rig::with(&settings(false), 1, None);
    assert!(rig.ack(200, 0, &[]).is_empty());
    assert_eq!(rig.ack(201, 1, &[]), [1, 2]);
    assert_eq!(rig.ack(301, 1, &[]), [1]);
}

/// tcp_process_loss, F-RTO of RFC 5682 section 2.1: after a timeout the acknowledgement of the retransmission lets new data leave. If a
/// segment that was sent once is then acknowledged, the timeout was spurious.
#[test]
fn spurious_timeout() {
    let mut rig = rig(4);
    assert_eq!(rig.expire(1100), [0]);
    assert_eq!((rig.segments(), rig.sender.window().ssthresh), (1, 2 * MSS));
    assert_eq!(rig.ack(1200, 1, &[]), [4, 5]);
    rig.ack(1210, 2, &[]);
    assert_eq!((rig.sender.statistics.undone_reductions, rig.sender.window().ssthresh), (1, u64::MAX));
}

/// The same with a loss: the duplicate that the new data cause shows that the timeout was not spurious, and lets a lost segment leave in
/// place of what arrived. All that was outstanding is lost, whether it has arrived or not (tcp_timeout_mark_lost). An acknowledgement of
/// new data forgets what duplicates have told, so that one more than the window is in flight.
#[test]
fn timeout_repeats_all() {
    let mut rig = rig(4);
    rig.expire(1100);
    assert_eq!(rig.ack(1200, 1, &[]), [4, 5]);
    assert_eq!(rig.ack(1300, 1, &[]), [1]);
    assert_eq!(rig.ack(1301, 1, &[]), [2]);
    assert!(rig.ack(1400, 2, &[]).is_empty());
    assert_eq!(rig.ack(1401, 3, &[]), [3]);
    assert_eq!((rig.sender.statistics.undone_reductions, rig.sender.statistics.fast_recoveries), (0, 0));
}

/// tcp_enter_recovery, tcp_enter_cwr: a loss that is found while marks reduce the window does not reduce it once more, and its recovery
/// ends above what was outstanding at the marks.
#[test]
fn loss_while_marks_reduce() {
    let mut rig = rig(10);
    rig.ack_marked(200, 1);
    assert_eq!(rig.sender.window().ssthresh, 5 * MSS);
    assert!(duplicates(&mut rig, 201, 1, 3)[2].contains(&1));
    assert_eq!((rig.sender.window().ssthresh, rig.sender.statistics.fast_recoveries), (5 * MSS, 1));
}
