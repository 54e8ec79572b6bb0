//! SACK TCP: New Reno's window with the recovery of RFC 6675. Other algorithms get the same recovery with a stack with
//! recovery = "sack".

use super::newreno::newreno_with_recovery;

newreno_with_recovery! { Sack:
    name: "sack",
    aliases: ["sack1", "tcp-sack"],
    title: "SACK TCP",
    class: "loss",
    year: 2012,
    source: "RFC 6675; Fall and Floyd, SIGCOMM CCR 26 (1996)",
    deviations: "none",
}
