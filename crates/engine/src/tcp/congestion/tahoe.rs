//! Tahoe: Jacobson, "Congestion avoidance and control", SIGCOMM 1988. New Reno's window. After a loss, slow start from
//! one segment.

use super::newreno::newreno_with_recovery;

newreno_with_recovery! { Tahoe:
    name: "tahoe",
    aliases: ["tcp-tahoe"],
    title: "Tahoe",
    class: "loss",
    year: 1988,
    source: "Jacobson, SIGCOMM 1988; Fall and Floyd, SIGCOMM CCR 26 (1996)",
    deviations: "limited transmit and the RTT estimator are the stack's",
}
