//! Laws of handshakes that ask for ECN: RFC 3168 sections 6.1.1 and 6.1.1.1, RFC 9768 section 3.1.4.1.

use std::sync::Arc;

use serde_json::json;
use sojourn_engine::packet::{OptionsPool, Packet, flags};
use sojourn_engine::tcp::congestion::Algorithm;
use sojourn_engine::tcp::connection::Connection;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::sender::{Address, Sender};
use sojourn_engine::tcp::slow_start::SlowStartKind;
use sojourn_engine::time::{Duration, Time};

/// A connection with ECN of this kind, and the SYNs that it sends if none is answered.
fn syns(profile: &str, ecn: &str, count: usize) -> (Connection, Vec<Packet>) {
    let mut settings = serde_json::to_value(StackProfile::of_name(profile).expect("a profile")).expect("serialisable");
    settings["ecn"] = json!(ecn);
    settings["ecn_on_control"] = json!(true);
    let profile = Arc::new(StackProfile::from_settings(&settings).expect("valid settings"));
    let address = Address { flow: 0, first_hop: 0 };
    let algorithm = Algorithm::new("newreno", &json!({})).expect("a known algorithm");
    let sender = Sender::new(address, Arc::clone(&profile), algorithm, SlowStartKind::Standard, None);
    let receiver = Arc::new(profile.receiver_for(&sender.needs()));
    let mut connection = Connection::new(sender, profile, receiver, address);
    let mut syns = Vec::new();
    connection.sender.open(Time::ZERO, &mut syns);
    while syns.len() < count {
        let (now, before) = (connection.sender.deadline(), syns.len());
        connection.sender.on_timer(now, &mut syns);
        assert!(syns.len() > before || connection.sender.deadline() > now);
    }
    (connection, syns)
}

/// The flags of the answer to the first of these SYNs, of that to the last, and of the data and the acknowledgement that follow.
fn shake(connection: &mut Connection, arriving: &[Packet]) -> [u8; 4] {
    let (mut options, mut data) = (OptionsPool::default(), Vec::new());
    let now = connection.sender.deadline();
    let answers: Vec<Packet> = arriving.iter().filter_map(|syn| connection.on_data(syn, now, &mut options)).collect();
    let (first, last) = (answers[0], answers[answers.len() - 1]);
    connection.on_ack(&last, now + Duration::from_milliseconds(10), &mut options, &mut data);
    let acknowledgement = connection.acknowledge(now, &mut options);
    [first.flags, last.flags, data[0].flags, acknowledgement.flags]
}

/// A SYN asks for ECN with ECE and CWR, its first retransmission no more on Linux (tcp_ecn_fallback), the second no more by RFC 9768, and
/// every one on ns-3. If one that does not ask is the first to arrive, nothing of the connection is ECN-capable.
#[test]
fn lost_syns() {
    for (profile, ecn, asking) in [
        ("linux-6", "classic", 1),
        ("linux-6", "accurate", 1),
        ("rfc", "accurate", 2),
        ("rfc", "classic", 2),
        ("ns3-3.48", "classic", 4),
    ] {
        let (mut connection, sent) = syns(profile, ecn, 4);
        let asks: Vec<bool> = sent.iter().map(|syn| syn.flags & flags::ECN_SETUP == flags::ECN_SETUP).collect();
        assert_eq!(asks, (0..4).map(|number| number < asking).collect::<Vec<bool>>(), "{profile}");
        let capable: Vec<bool> = sent.iter().map(|syn| syn.flags & flags::ECT_0 != 0).collect();
        assert_eq!(capable, asks, "{profile}");
        let all = shake(&mut connection, &sent[3..]);
        let agrees = asking == 4;
        assert_eq!(all[1] & flags::ECN_ECHO != 0, agrees, "{profile}: the answer");
        assert!(all.iter().all(|bits| (bits & flags::ECT_0 != 0) == agrees), "{profile}: {all:?}");
    }
}

/// If only the answer was lost, ECN is agreed on: the retransmission that does not ask gets the same answer (Linux tcp_input.c,
/// tcp_ecn_create_request and tcp_ecn_rcv_synack).
#[test]
fn lost_answer() {
    let (mut connection, sent) = syns("linux-6", "classic", 2);
    let all = shake(&mut connection, &sent);
    assert_eq!(all.map(|bits| bits & flags::ECT_0 != 0), [true; 4]);
    assert_eq!(all[..2].iter().map(|bits| bits & flags::ECN_ECHO).collect::<Vec<u8>>(), [flags::ECN_ECHO; 2]);
}
