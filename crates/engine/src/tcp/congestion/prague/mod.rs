//! Prague: De Schepper, Tilmans, Briscoe and Goel, draft-briscoe-iccrg-prague-congestion-control-04, the congestion
//! control of L4S (RFC 9330). A DCTCP for the Internet: below a virtual round-trip time its rate does not depend on the
//! RTT, it also grows in round trips with marks in proportion to the unmarked bytes, and it is paced.
//!
//! Constants and details that the draft leaves open are those of L4STeam/linux, net/ipv4/tcp_prague.c, whose releases are
//! variants.

mod kernel;
mod linux;
mod linux_2020;
mod published;

use crate::time::Duration;

parameters! {
    pub struct PragueParameters {
        g: f64 = 0.0625, in 0 .. 1, "Gain of alpha: the weight of the latest window", "tcp_prague.c, PRAGUE_SHIFT_G: 1/16";
        virtual_rtt: Duration = Duration::from_milliseconds(25), "RTT that a flow with a shorter RTT emulates; zero disables this", "draft section 2.4.4; tcp_prague.c, prague_rtt_target; version 0.5 of 2020 emulates none unless asked (prague_rtt_scaling)";
        transition: u64 = 500, in 0 .. 1000000000, "Round trips after slow start before it emulates virtual_rtt", "draft section 2.4.4; tcp_prague.c, prague_rtt_transition: 500 in version 0.6, 4 in 0.7, 100 in 0.5";
        rules: Rules = Rules::Published, "Whose rules: linux has whole segments, windows that fall by a segment with each acknowledgement, no growth while losses are repaired, the first mark instead of alpha = 1 to halve the window, and a rate instead of a window of up to four segments; linux-2020 is the release before, with alpha = 1", "draft-briscoe-iccrg-prague-congestion-control-04; github.com/L4STeam/linux net/ipv4/tcp_prague.c, version 0.7 (893e1479793e), and version 0.5 of August 2020 (b256daedc767)";
    }
}

inner_state! {
    PragueState {
        alpha: "", "estimated share of marked bytes, 0 to 1";
        rounds: "", "round trips since slow start, up to the transition and further with the rules of Linux";
    }
}

variants! {
    Prague(PragueParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux, boxed) = "linux",
        Linux2020(linux_2020::Linux2020, boxed) = "linux-2020",
    }
}

about! { Prague:
    name: "prague",
    aliases: ["tcp_prague"],
    state: PragueState,
    title: "TCP Prague",
    class: "marks",
    year: 2024,
    source: "draft-briscoe-iccrg-prague-congestion-control-04 and L4STeam/linux, net/ipv4/tcp_prague.c",
    deviations: "the draft was not available: its rules are those that its implementations cite; with rules published, \
                 losses halve the window even if marks have just reduced it, and the window is one of bytes, not below \
                 two segments; left out are the fall-back for queues that mark by RFC 3168, which is off in the \
                 reference implementation too, and its segments of less than 1500 bytes at rates below 1 Mbit/s",
}

impl Prague {
    /// The estimate of the share of marked bytes.
    pub fn alpha(&self) -> f64 {
        match self {
            Prague::Published(prague) => prague.alpha(),
            Prague::Linux(prague) => prague.alpha(),
            Prague::Linux2020(prague) => prague.alpha(),
        }
    }
}
