//! HighSpeed TCP: RFC 3649. Windows are in segments, as in its equations.

mod linux;
mod ns3;
mod published;
mod table;

use table::LAST_WINDOW;

parameters! {
    pub struct HighSpeedParameters {
        low_window: f64 = 38.0, in 2 .. 10000, "Window, in segments, up to which it behaves like Reno: Low_Window", "RFC 3649 section 5";
        high_window: f64 = 83000.0, in 20000 .. 1000000000, "Window, in segments, whose decrease is high_decrease: High_Window", "RFC 3649 section 5";
        high_decrease: f64 = 0.1, in 0 .. 0.5, "Decrease on loss, as a share of the window, at high_window: High_Decrease", "RFC 3649 section 7";
        p_factor: f64 = 0.078, in 0.001 .. 1, "Loss rate at which the average window would be one segment, by the response function p(w)", "RFC 3649, p(w) = 0.078 / w^1.2";
        p_exponent: f64 = 1.2, in 1 .. 2, "Exponent by which the response function p(w) falls with the window", "RFC 3649, p(w) = 0.078 / w^1.2";
        rules: Rules = Rules::Published, "Whose counting, a(w) and b(w): linux counts acknowledgements and has whole numbers, of the table of appendix B; ns3 has those numbers too, and counts segments", "RFC 3649 section 5; Linux tcp_highspeed.c, hstcp_cong_avoid and hstcp_ssthresh; ns-3 tcp-highspeed.cc, CongestionAvoidance and GetSsThresh";
    }
}

variants! {
    HighSpeed(HighSpeedParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux) = "linux",
        Ns3(ns3::Ns3) = "ns3",
    }
}

about! { HighSpeed:
    name: "hstcp",
    aliases: ["highspeed", "hs-tcp", "hs_tcp"],
    title: "HighSpeed TCP",
    class: "loss",
    year: 2003,
    source: "RFC 3649",
    deviations: "a(w) and b(w) follow the formulas of section 7, not the rounded table of appendix B, and a(w) is at \
                 least Reno's one segment; beyond the end of that table b(w) is constant and a(w) keeps growing (Linux \
                 keeps both at the last row); with rules = \"linux\" both are the table's, and an acknowledgement \
                 counts once, however many segments it covers; with rules = \"ns3\" both are the table's; slow start \
                 is the one chosen for the flow, without limited slow start (RFC 3742)",
}

impl HighSpeedParameters {
    /// b(w): the share by which a loss reduces the window, logarithmic in the window between Reno's 0.5 and
    /// High_Decrease (section 7).
    fn decrease(&self, w: f64) -> f64 {
        let HighSpeedParameters { low_window, high_window, high_decrease, .. } = *self;
        if w <= low_window {
            return 0.5;
        }
        // From six times the table's last window on, the formula is negative.
        let w = w.min(high_window.max(LAST_WINDOW as f64));
        let height = libm::log(w / low_window) / libm::log(high_window / low_window);
        ((high_decrease - 0.5) * height + 0.5).max(0.0)
    }
}
