//! RACK-TLP by the rules of RFC 8985, acknowledgement by acknowledgement. Segments are numbered from zero. The
//! round-trip time is 100 ms, so the reordering window grows in steps of 25 ms.

use std::sync::Arc;

use serde_json::{Value, json};
use sojourn_engine::packet::{AckOptions, Block, Packet, SackBlocks};
use sojourn_engine::tcp::congestion::Algorithm;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::sender::{Acknowledgement, Address, Sender};
use sojourn_engine::tcp::slow_start::SlowStartKind;
use sojourn_engine::time::{Duration, Time};

pub(super) const MSS: u64 = 1000;

/// A sender and the packets it sent at the last event.
pub(super) struct Rig {
    pub(super) sender: Sender,
    outbox: Vec<Packet>,
}

fn at(milliseconds: u64) -> Time {
    Time::ZERO + Duration::from_milliseconds(milliseconds)
}

impl Rig {
    /// A sender under this congestion control that has sent its SYN.
    fn opening(control: &str, changes: &Value, segments: Option<u64>) -> Rig {
        let mut settings = serde_json::to_value(StackProfile::default()).expect("serialisable");
        let rack = json!({"segment_size": MSS, "recovery": "rack", "duplicate_sack": true, "timestamps": false});
        for (name, value) in rack.as_object().unwrap().iter().chain(changes.as_object().unwrap()) {
            settings[name] = value.clone();
        }
        let profile = Arc::new(StackProfile::from_settings(&settings).expect("valid settings"));
        let algorithm = Algorithm::new(control, &json!({})).expect("a known algorithm");
        let size = segments.map(|segments| segments * MSS);
        let address = Address { flow: 0, first_hop: 0 };
        let sender = Sender::new(address, profile, algorithm, SlowStartKind::Standard, size);
        let mut rig = Rig { sender, outbox: Vec::new() };
        rig.sender.open(Time::ZERO, &mut rig.outbox);
        rig
    }

    /// A sender with an RTT sample of 100 ms that has just sent its initial window.
    fn new(initial_window: u64, segments: Option<u64>) -> Rig {
        Rig::with(&json!({}), initial_window, segments)
    }

    pub(super) fn with(changes: &Value, initial_window: u64, segments: Option<u64>) -> Rig {
        Rig::under("newreno", changes, initial_window, segments)
    }

    fn under(control: &str, changes: &Value, initial_window: u64, segments: Option<u64>) -> Rig {
        let mut changes = changes.clone();
        changes["initial_window"] = json!(initial_window);
        let mut rig = Rig::opening(control, &changes, segments);
        rig.outbox.clear();
        rig.sender.on_syn_ack(Time::ZERO, at(100), &mut rig.outbox);
        assert_eq!(rig.sent(), (0..initial_window).collect::<Vec<_>>());
        rig
    }

    /// Processes an acknowledgement of all segments before `next` with these SACK blocks. Returns the segments sent.
    pub(super) fn ack(&mut self, milliseconds: u64, next: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        self.ack_with(milliseconds, next, blocks, false, Time::ZERO)
    }

    /// The same, with ECN-Echo.
    pub(super) fn ack_marked(&mut self, milliseconds: u64, next: u64) -> Vec<u64> {
        self.ack_with(milliseconds, next, &[], true, Time::ZERO)
    }

    /// An acknowledgement without SACK blocks that echoes the timestamp of what was sent then.
    pub(super) fn ack_echoing(&mut self, milliseconds: u64, next: u64, sent: u64) -> Vec<u64> {
        self.ack_with(milliseconds, next, &[], false, at(sent))
    }

    fn ack_with(
        &mut self,
        milliseconds: u64,
        next: u64,
        blocks: &[(u64, u64)],
        echoes_congestion: bool,
        echo: Time,
    ) -> Vec<u64> {
        let mut sacks = SackBlocks::default();
        for (start, end) in blocks {
            sacks.push(Block { start: 1 + start * MSS, end: 1 + end * MSS });
        }
        let options = AckOptions { sacks, ..AckOptions::NONE };
        let number = 1 + next * MSS;
        let ack = Acknowledgement { number, echo, echoes_congestion, options: &options };
        self.sender.on_ack(&ack, at(milliseconds), &mut self.outbox);
        self.sent()
    }

    /// Handles the expiry of the timer, which must be due now. Returns the segments sent.
    #[track_caller]
    pub(super) fn expire(&mut self, milliseconds: u64) -> Vec<u64> {
        self.assert_due(milliseconds);
        self.sender.on_timer(at(milliseconds), &mut self.outbox);
        self.sent()
    }

    #[track_caller]
    pub(super) fn assert_due(&self, milliseconds: u64) {
        assert_eq!(self.sender.deadline(), at(milliseconds), "the timer is due");
    }

    fn sent(&mut self) -> Vec<u64> {
        self.outbox.drain(..).map(|packet| (packet.number - 1) / MSS).collect()
    }

    pub(super) fn segments(&self) -> u64 {
        self.sender.window().cwnd / MSS
    }
}

/// Section 7.2: the probe is sent after two round trips, plus 200 ms if only one segment is in flight, or after a
/// second if no RTT is known, and not later than the retransmission timeout.
#[test]
fn probe_timeout() {
    Rig::new(2, Some(2)).assert_due(100 + 2 * 100);
    Rig::new(1, Some(1)).assert_due(100 + 2 * 100 + 200);

    let mut blind = Rig::opening("newreno", &json!({"initial_window": 1}), None);
    blind.sender.on_timer(at(1000), &mut blind.outbox);
    blind.sender.on_syn_ack(Time::ZERO, at(1500), &mut blind.outbox);
    blind.assert_due(1500 + 1000);

    // RTO = 100 + 4 * 50 ms (RFC 6298): the probe is sent when the timer would expire.
    let mut early = Rig::with(&json!({"minimum_rto": 1_000_000_000_u64}), 1, Some(1));
    assert_eq!(early.expire(400), [0]);
    assert_eq!((early.sender.statistics.timeouts, early.segments()), (0, 1));
    early.assert_due(400 + 300);
    early.expire(700);
    assert_eq!(early.sender.statistics.timeouts, 1);
}

/// Section 7.3: a probe is new data if available, regardless of the window, and otherwise the last segment. It restarts
/// the retransmission timer, and there is no second probe until it is acknowledged.
#[test]
fn probe_contents() {
    for (segments, probe) in [(None, 10), (Some(11), 10), (Some(10), 9)] {
        let mut rig = Rig::new(10, segments);
        assert_eq!(rig.expire(300), [probe], "{segments:?} segments in all");
        rig.assert_due(300 + 1000);
    }
    // An acknowledgement of half of the flight gives no information on the probe. One of all of it does.
    let mut rig = Rig::new(10, Some(10));
    rig.expire(300);
    rig.ack(310, 5, &[]);
    assert!(rig.sender.deadline() >= at(1300), "{:?}", rig.sender.deadline());

    let mut answered = Rig::new(4, None);
    answered.expire(300);
    answered.ack(310, 5, &[]);
    assert!(answered.sender.deadline() < at(1000), "{:?}", answered.sender.deadline());
}

/// Section 7.2: no probe while there is a hole, which RACK repairs.
#[test]
fn no_probe_with_hole() {
    let mut rig = Rig::new(3, Some(3));
    rig.ack(200, 0, &[(2, 3)]);
    rig.assert_due(225);
    rig.expire(225);
    assert!(rig.sender.deadline() >= at(1000), "{:?}", rig.sender.deadline());
}

/// Section 7.4.2: a loss repaired by the probe halves the flight size. A probe acknowledged as duplicate, or with new
/// data, repaired no loss.
#[test]
fn probe_acknowledgement() {
    // The receive window has no room for new data.
    let full = json!({"receive_buffer": 10 * MSS});
    for (changes, probe, next, duplicate, expected) in
        [(&full, 9, 10, None, 5 * MSS), (&full, 9, 10, Some((9, 10)), u64::MAX), (&json!({}), 10, 11, None, u64::MAX)]
    {
        let mut rig = Rig::with(changes, 10, None);
        assert_eq!(rig.expire(300), [probe]);
        rig.ack(400, next, duplicate.as_slice());
        let ssthresh = rig.sender.window().ssthresh;
        assert_eq!(ssthresh, expected, "probe of {probe}, {duplicate:?} twice");
    }
}

/// Section 6.2 step 4: before any reordering was observed, RACK waits for a quarter of the minimum RTT if less than
/// three segments arrived out of order. With three it does not wait.
#[test]
fn reordering_window() {
    for sacked in [1, 2] {
        let mut rig = Rig::new(10, Some(10));
        assert!(rig.ack(200, 0, &[(1, 1 + sacked)]).is_empty());
        assert_eq!(rig.expire(225), [0]);
        assert_eq!(rig.sender.statistics.fast_recoveries, 1);
    }
    let mut rig = Rig::new(10, Some(10));
    assert_eq!(rig.ack(200, 0, &[(1, 4)]), [0]);
    // New data sent on the acknowledgement does not postpone the timer.
    let mut rig = Rig::new(10, None);
    assert_eq!(rig.ack(200, 0, &[(1, 2)]), [10]);
    rig.assert_due(225);
    // The missing segment arrived, so there is nothing to wait for.
    let mut rig = Rig::new(10, Some(10));
    rig.ack(200, 0, &[(1, 2)]);
    rig.ack(210, 2, &[]);
    assert!(rig.sender.deadline() > at(400), "{:?}", rig.sender.deadline());
}

/// Section 6.2 step 4: no wait in recovery, however few segments have arrived out of order. The arrival of a
/// retransmission is not reordering (step 3).
#[test]
fn no_reordering_window_in_recovery() {
    let mut rig = Rig::new(20, Some(20));
    rig.ack(200, 0, &[(1, 2)]);
    assert_eq!(rig.expire(225), [0]);
    // Segment 2 was sent with segment 3, which has been delivered: it is lost, and no timer waits for it.
    rig.ack(230, 0, &[(3, 4), (1, 2)]);
    assert!(rig.sender.deadline() > at(400), "{:?}", rig.sender.deadline());

    let mut rig = Rig::new(20, Some(20));
    assert_eq!(rig.ack(200, 0, &[(1, 4)]), [0]);
    rig.ack(300, 4, &[]);
    rig.ack(305, 4, &[(5, 6)]);
    assert!(rig.sender.deadline() > at(500), "{:?}", rig.sender.deadline());
}

/// Section 6.2 step 4: once reordering was observed, RACK waits with three and more segments too.
#[test]
fn reordering_remembered() {
    let mut rig = Rig::new(20, Some(20));
    rig.ack(200, 0, &[(1, 2)]);
    rig.ack(201, 2, &[]);
    assert!(rig.ack(210, 2, &[(3, 9)]).is_empty());
    // Sent at 100 ms. The RTT of the latest delivered segment is 110 ms, plus 25 ms.
    assert_eq!(rig.expire(235), [2]);
}

/// Section 6.2 step 4: each round trip with a DSACK adds a quarter of the minimum RTT, also if a later acknowledgement
/// has overtaken the one with the DSACK.
#[test]
fn window_growth_on_duplicates() {
    for told_with in [5, 3] {
        let mut rig = Rig::new(20, Some(20));
        rig.ack(200, 5, &[]);
        rig.ack(201, told_with, &[(0, 1)]);
        rig.ack(210, 5, &[(6, 7)]);
        rig.assert_due(100 + 110 + 2 * 25);
    }
}

/// Section 6.3: a timeout marks as lost the first segment and those sent longer ago than RACK waits. The others remain
/// in flight.
#[test]
fn timeout_spares_recent_segments() {
    let mut rig = Rig::new(4, None);
    assert_eq!(rig.expire(300), [4]);
    // The RTT of the latest delivered segment is 1150 ms: at 1300 ms segments 2 and 3 are lost, and segment 4 is not.
    rig.ack(1250, 0, &[(1, 2)]);
    assert_eq!(rig.expire(1275), [0]);
    // RFC 6298 (5.4): the first segment is retransmitted regardless of the data in flight.
    assert_eq!(rig.expire(1300), [0]);
    assert_eq!(rig.sender.statistics.timeouts, 1);
    // Linux tcp_input.c, tcp_enter_loss: the window is one segment and what is in flight, segment 4; then it grows by one.
    assert_eq!(rig.ack(1320, 2, &[]), [2, 3]);
}

/// Section 9.4 (RFC 3708): when all retransmissions are reported as duplicates, the reduction is undone.
#[test]
fn spurious_recovery_undo() {
    let mut rig = Rig::new(20, Some(40));
    assert_eq!(rig.ack(200, 0, &[(2, 5)]), [0, 1]);
    assert_eq!(rig.sender.window().ssthresh, 10 * MSS);
    // The original transmissions were only delayed.
    rig.ack(210, 5, &[]);
    rig.ack(310, 5, &[(0, 1)]);
    assert_eq!(rig.sender.statistics.undone_reductions, 0);
    assert_eq!(rig.sender.window().ssthresh, 10 * MSS);
    rig.ack(311, 5, &[(1, 2)]);
    assert_eq!(rig.sender.statistics.undone_reductions, 1);
    assert_eq!(rig.sender.window().ssthresh, u64::MAX);
    assert!(rig.segments() >= 20, "{} segments", rig.segments());
}

/// Linux tcp_input.c, tcp_dsack_seen: once more segments are reported as duplicates than were sent again, reports are the network's
/// copies, and undo nothing. RFC 3708 believes them. tcp_check_dsack: nor does a report of data that were acknowledged before the
/// reduction.
#[test]
fn copies_of_the_network_undo_nothing() {
    for (counting, copies, reported, undone) in [
        ("segments", 0, [(3, 4), (4, 5)], 1),
        ("segments", 1, [(3, 4), (4, 5)], 0),
        ("segments", 0, [(1, 2), (2, 3)], 0),
        ("bytes", 1, [(3, 4), (4, 5)], 1),
    ] {
        let mut rig = Rig::with(&json!({"counting": counting}), 20, Some(60));
        rig.ack(190, 3, &[]);
        (0..copies).for_each(|copy| drop(rig.ack(191 + copy, 3, &[(0, 1)])));
        assert_eq!(rig.ack(200, 3, &[(5, 8)])[..2], [3, 4], "both are sent again");
        rig.ack(210, 8, &[]);
        reported.iter().for_each(|block| drop(rig.ack(310, 8, &[*block])));
        assert_eq!(rig.sender.statistics.undone_reductions, undone, "{counting}, {copies} copies, {reported:?}");
    }
}

/// Linux tcp_input.c, tcp_dsack_seen: only a report that is believed, after reordering, widens the reordering window.
#[test]
fn copies_of_the_network_widen_no_window() {
    for (counting, steps) in [("segments", 1), ("bytes", 2)] {
        let mut rig = Rig::with(&json!({"counting": counting}), 20, Some(20));
        rig.ack(200, 5, &[]);
        rig.ack(201, 5, &[(0, 1)]);
        rig.ack(210, 5, &[(6, 7)]);
        rig.assert_due(100 + 110 + steps * 25);
    }
}

/// Linux counts whole segments, and for growth those that an acknowledgement delivers (tcp_cong.c, tcp_reno_ssthresh;
/// tcp_input.c, tcp_cong_control): half of seven is three, and the acknowledgement that ends recovery counts for the one segment
/// that had not been SACKed. Two more make a window of three, which gives a segment. Where bytes count, all seven do not.
#[test]
fn whole_segments_delivered() {
    let changes = json!({"counting": "segments", "flight_size": "window"});
    let mut rig = Rig::with(&changes, 7, None);
    rig.ack(200, 0, &[(1, 7)]);
    assert_eq!(rig.sender.window().ssthresh, 3 * MSS);
    for (milliseconds, next, cwnd) in [(300, 7, 3), (400, 8, 3), (401, 9, 4)] {
        rig.ack(milliseconds, next, &[]);
        assert_eq!(rig.sender.window().cwnd, cwnd * MSS, "at {milliseconds} ms");
    }
}

/// Section 6.2, step 3: an acknowledgement whose SACK blocks both report new data, the most recent block first (RFC 2018
/// section 4), is no sign of reordering, so that the losses count at once.
#[test]
fn sack_blocks_not_reordering() {
    let mut rig = Rig::new(20, None);
    let sent = rig.ack(200, 0, &[(5, 8), (1, 4)]);
    assert!(sent.starts_with(&[0, 4]), "retransmissions of 0 and 4, not {sent:?}");
}

/// Linux tcp_input.c, tcp_time_to_recover: segment 20 is sent during the recovery from the losses of segments 0 and 6, lost, and
/// retransmitted before that recovery ends. At its end (SND.UNA 20) the loss is still unanswered, so that the next recovery
/// begins and reduces the window again.
#[test]
fn loss_during_recovery_answered() {
    let mut rig = Rig::new(20, None);
    assert_eq!(rig.ack(200, 0, &[(1, 4)]), [0, 20]);
    assert_eq!(rig.ack(204, 0, &[(1, 6)]), [21]);
    assert_eq!(rig.ack(210, 0, &[(7, 10), (1, 6)]), [6]);
    rig.ack(295, 6, &[(7, 20)]);
    assert!(rig.ack(300, 6, &[(21, 22), (7, 20)]).contains(&20), "the loss is repaired");
    assert_eq!((rig.sender.statistics.fast_recoveries, rig.sender.window().ssthresh), (1, 10 * MSS));
    rig.ack(306, 20, &[(21, 22)]);
    assert_eq!(rig.sender.statistics.fast_recoveries, 2);
    assert!(rig.sender.window().ssthresh <= 5 * MSS, "the window of ten segments is reduced");
}

/// RFC 5682 section 3.1, steps 2.b and 3.b: the acknowledgement of the retransmission is followed by new data, not by further
/// retransmissions; as segment 1 then arrives though it was sent once, the timeout was spurious, and what it marked lost is not.
#[test]
fn spurious_timeout_undone() {
    let mut rig = Rig::new(4, None);
    assert_eq!(rig.expire(300), [4]);
    assert_eq!(rig.expire(1300), [0]);
    assert_eq!((rig.segments(), rig.sender.window().ssthresh), (1, 2 * MSS));
    assert_eq!(rig.ack(1400, 1, &[]), [5, 6], "new data");
    assert_eq!(rig.sender.statistics.undone_reductions, 0);
    rig.ack(1410, 2, &[]);
    assert_eq!((rig.sender.statistics.undone_reductions, rig.sender.window().ssthresh), (1, u64::MAX));
    assert!(rig.segments() >= 4, "{} segments", rig.segments());
    assert_eq!(rig.sender.statistics.retransmissions, 1);
}

/// RFC 5682 section 3.1, step 3.a: the new data arrive and segment 1 does not, so that the timeout was not spurious.
#[test]
fn real_timeout_repaired() {
    let mut rig = Rig::new(4, None);
    rig.expire(300);
    rig.expire(1300);
    assert_eq!(rig.ack(1400, 1, &[]), [5, 6]);
    assert_eq!(rig.ack(1500, 1, &[(5, 6)]), [1], "lost data");
    assert_eq!(rig.sender.statistics.undone_reductions, 0);
}

/// The settings of Linux's state CWR.
fn cwr() -> Value {
    json!({"ecn": "classic", "prr_on_marks": true, "flight_size": "window", "counting": "segments"})
}

/// Linux tcp_input.c, tcp_enter_cwr and tcp_cwnd_reduction, by hand: marks halve a window of ten segments in proportion to what
/// arrives, a segment for two, until five are in flight. The state ends above the segments that were outstanding, and the window is
/// then ssthresh. Reduced at once (RFC 3168 section 6.1.2), it lets none leave until five are in flight.
#[test]
fn marks_reduce_proportionally() {
    let mut rig = Rig::with(&cwr(), 10, None);
    let sent: Vec<Vec<u64>> =
        (1..=11).map(|next| if next == 1 { rig.ack_marked(200, 1) } else { rig.ack(200 + next, next, &[]) }).collect();
    let expected: [&[u64]; 11] = [&[10], &[], &[11], &[], &[12], &[], &[13], &[], &[], &[14], &[15]];
    assert_eq!(sent, expected);
    assert_eq!((rig.sender.window().cwnd / MSS, rig.sender.window().ssthresh), (5, 5 * MSS));

    let mut at_once = Rig::with(&json!({"ecn": "classic", "flight_size": "window"}), 10, None);
    assert!(at_once.ack_marked(200, 1).is_empty());
    assert!((2..=4).all(|next| at_once.ack(200 + next, next, &[]).is_empty()));
}

/// A loss that is found while marks reduce the window does not reduce it once more, nor does a timeout (Linux tcp_input.c,
/// tcp_enter_recovery and tcp_enter_loss); the recovery ends with what was outstanding at the marks. A window of data later it does.
#[test]
fn loss_while_marks_reduce() {
    let mut rig = Rig::with(&cwr(), 10, None);
    rig.ack_marked(200, 1);
    assert_eq!(rig.ack(201, 1, &[(2, 5)])[0], 1);
    assert_eq!(rig.sender.window().ssthresh, 5 * MSS);
    rig.ack(300, 10, &[]);
    // The six segments that this delivers then grow the window by one, as outside of recoveries.
    assert_eq!((rig.sender.window().cwnd / MSS, rig.sender.window().ssthresh), (6, 5 * MSS));

    let mut rig = Rig::with(&cwr(), 10, None);
    rig.ack_marked(200, 1);
    rig.sender.on_timer(rig.sender.deadline(), &mut rig.outbox);
    rig.sender.on_timer(rig.sender.deadline(), &mut rig.outbox);
    assert_eq!(rig.sender.statistics.timeouts, 1);
    assert_eq!(rig.sender.window().ssthresh, 5 * MSS);
}

/// Marks show congestion: a fast recovery during which they are reported is not taken back, though its retransmission proves needless
/// (Linux tcp_input.c, tcp_fastretrans_alert; RFC 4015 section 3.2).
#[test]
fn no_undo_after_marks() {
    for (is_marked, ssthresh) in [(false, u64::MAX), (true, 5 * MSS)] {
        let mut rig = Rig::with(&json!({"ecn": "classic", "flight_size": "window"}), 10, None);
        assert_eq!(rig.ack(200, 0, &[(1, 4)])[0], 0);
        if is_marked {
            rig.ack_marked(201, 4);
        } else {
            rig.ack(201, 4, &[]);
        }
        rig.ack(300, 4, &[(0, 1)]);
        assert_eq!(rig.sender.window().ssthresh, ssthresh, "marked: {is_marked}");
    }
}

/// Linux tcp_input.c by hand: two segments are lost that follow what was outstanding at the marks, all of which is acknowledged. The
/// recovery that goes on with their reduction has a window of six of the seven segments of ssthresh, by tcp_cwnd_reduction, when the next
/// acknowledgement finds it over (tcp_fastretrans_alert). The window stays (tcp_end_cwnd_reduction, without undo_marker), and the
/// recovery that begins at once multiplies it by 0.875, not ssthresh.
#[test]
fn recovery_that_marks_end_at_once() {
    let mut changes = cwr();
    changes["timestamps"] = json!(true);
    let mut rig = Rig::under("scalable", &changes, 8, None);
    let mut sent = rig.ack_marked(200, 1);
    for next in 2..=8 {
        sent.extend(rig.ack(200 + next, next, &[]));
    }
    assert_eq!(sent, [8, 9, 10, 11, 12, 13, 14]);
    assert_eq!(rig.ack(300, 8, &[(10, 11)]), [15]);
    assert_eq!(rig.ack(301, 8, &[(10, 12)]), [16]);
    assert_eq!(rig.ack(302, 8, &[(10, 13)]), [8, 9]);
    assert_eq!((rig.sender.window().cwnd, rig.sender.window().ssthresh), (6 * MSS, 7 * MSS));
    rig.ack(303, 8, &[(10, 14)]);
    assert_eq!((rig.sender.window().cwnd, rig.sender.window().ssthresh / MSS), (6 * MSS, 5));
}
