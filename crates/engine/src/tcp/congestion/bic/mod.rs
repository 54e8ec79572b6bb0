//! BIC: Xu, Harfoush and Rhee, "Binary increase congestion control for fast, long distance networks", INFOCOM 2004,
//! with the constants of Linux net/ipv4/tcp_bic.c. The window approaches the window of the last loss by binary search
//! and probes beyond it. Windows are in segments.

mod linux;
mod published;

parameters! {
    pub struct BicParameters {
        beta: f64 = 819.0 / 1024.0, in 0 .. 1, "Share of the window kept after a loss", "Linux tcp_bic.c, beta; 0.875 in Xu, Harfoush and Rhee 2004";
        max_increment: f64 = 16.0, in 1 .. 1000, "Maximum growth per round trip, in segments: S_max", "Linux tcp_bic.c, max_increment; 32 in Xu, Harfoush and Rhee 2004";
        low_window: f64 = 14.0, in 0 .. 1000000, "Window, in segments, up to which it behaves like Reno", "Xu, Harfoush and Rhee 2004; Linux tcp_bic.c, low_window";
        smooth_part: f64 = 20.0, in 1 .. 1000, "Round trips spent on the last search_factor segments up to the window of the last loss, and on the first beyond it", "Linux tcp_bic.c, smooth_part; 5 in ns-3's tcp-bic.cc";
        search_factor: f64 = 4.0, in 2 .. 100, "Divisor of the distance to the window of the last loss that gives the growth per round trip", "Linux tcp_bic.c, BICTCP_B; 2 in Xu, Harfoush and Rhee 2004";
        fast_convergence: bool = true, "Lower the target window further after a loss below the window of the previous loss", "Xu, Harfoush and Rhee 2004; Linux tcp_bic.c, fast_convergence";
        rules: Rules = Rules::Published, "Whose counting: linux grows in whole segments, and faster by the number of segments that an acknowledgement covers", "Xu, Harfoush and Rhee 2004; Linux tcp_bic.c, bictcp_update and bictcp_acked";
    }
}

inner_state! {
    BicState {
        w_max: "segments", "window of the latest loss, lowered by fast convergence (W_max)";
    }
}

variants! {
    Bic(BicParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux) = "linux",
    }
}

about! { Bic:
    name: "bic",
    aliases: ["bic-tcp"],
    state: BicState,
    title: "BIC",
    class: "loss",
    year: 2004,
    source: "Xu, Harfoush and Rhee, INFOCOM 2004; Linux net/ipv4/tcp_bic.c",
    deviations: "follows Linux, which covers a quarter of the distance where the paper halves it; the window grows by \
                 fractions of a segment per credited segment, whatever an acknowledgement covers; with rules = \
                 \"linux\" it also grows in whole segments and, as in Linux, twice as fast if acknowledgements cover \
                 two segments; no initial ssthresh of 100 segments, which older versions of Linux had",
}
