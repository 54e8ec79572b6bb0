//! Both ends of a connection: the fate of each packet is a byte of the input.

#[path = "../../engine/tests/properties/connection/rig.rs"]
mod rig;

use bolero::TypeGenerator;
use sojourn_engine::tcp::congestion::Algorithm;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::sender::State;
use sojourn_engine::time::Duration;

use self::rig::{Channel, Fate, Rig};

/// The fuzzer's input.
#[derive(Clone, Debug, TypeGenerator)]
struct Input {
    profile: u8,
    algorithm: u8,
    /// Switches of the stack: SACK of duplicates, pacing, ECN, Accurate ECN.
    switches: u8,
    size: u16,
    fates: Vec<u8>,
}

/// The channel determined by an input. After the last byte it is faultless.
struct Script {
    fates: std::vec::IntoIter<u8>,
    lost: u32,
}

impl Channel for Script {
    /// Two bits give the number of copies, one the mark, and five the delay of the first copy, up to 155 ms.
    fn fate(&mut self) -> Fate {
        let Some(byte) = self.fates.next() else { return Fate { copies: vec![Duration::ZERO], marked: false } };
        let later = Duration::from_milliseconds(5 * u64::from(byte & 0x1f));
        let copies = match byte >> 6 {
            0 => {
                self.lost += 1;
                vec![]
            }
            3 => vec![later, Duration::ZERO],
            _ => vec![later],
        };
        Fate { copies, marked: byte & 0x20 != 0 }
    }
}

/// For any fates of the packets every byte arrives once and in order, or the connection is recorded as aborted after at
/// least the losses that this needs.
#[test]
fn in_order_delivery() {
    let algorithms: Vec<&str> = Algorithm::catalogue().into_iter().map(|(about, _)| about.name).collect();
    let profiles: Vec<StackProfile> =
        StackProfile::named().iter().filter_map(|profile| StackProfile::of_name(profile.name)).collect();
    bolero::check!().with_type::<Input>().cloned().for_each(|input| {
        let profile = &profiles[usize::from(input.profile) % profiles.len()];
        let mut settings = serde_json::to_value(profile).expect("serialisable");
        let switch = |bit: u8| input.switches & (1 << bit) != 0;
        settings["duplicate_sack"] = (profile.sack && switch(0)).into();
        settings["pacing"] = switch(1).into();
        settings["ecn"] = ["off", "classic", "accurate", "accurate"][usize::from(input.switches >> 2 & 3)].into();
        let algorithm = algorithms[usize::from(input.algorithm) % algorithms.len()];
        let size = u64::from(input.size) + 1;
        let script = Script { fates: input.fates.into_iter(), lost: 0 };
        let mut rig = Rig::new(&settings, algorithm, size, script, 1);
        match rig.run() {
            State::Completed => assert_eq!([rig.connection.delivered(), rig.connection.received()], [size; 2]),
            State::Aborted(_) => assert!(u64::from(rig.channel.lost) > profile.syn_retries.min(profile.data_retries)),
            state => panic!("{state:?}"),
        }
    });
}
