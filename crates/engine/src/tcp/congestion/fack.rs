//! FACK: Mathis and Mahdavi, "Forward acknowledgement: refining TCP congestion control", SIGCOMM 1996. New Reno's
//! window. Losses are detected by the distance of a segment from the highest SACKed sequence number.

use super::newreno::newreno_with_recovery;

newreno_with_recovery! { Fack:
    name: "fack",
    aliases: ["tcp-fack"],
    title: "FACK",
    class: "loss",
    year: 1996,
    source: "Mathis and Mahdavi, SIGCOMM 1996",
    deviations: "overdamping and rampdown (section 4) are left out; the threshold of section 2.2 also applies within \
                 an episode, as in Linux",
}
