//! Reno: RFC 5681. New Reno's window. Fast recovery ends at the first acknowledgement of new data, so that each further
//! loss in a window causes another reduction or a timeout.

use super::newreno::newreno_with_recovery;

newreno_with_recovery! { Reno:
    name: "reno",
    aliases: ["tcp-reno"],
    title: "Reno",
    class: "loss",
    year: 2009,
    source: "RFC 5681 section 3.2; Jacobson 1990",
    deviations: "none",
}
