//! Scalable TCP: Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM SIGCOMM CCR 33
//! (2003).

mod linux;
mod published;

parameters! {
    pub struct ScalableParameters {
        a: f64 = 0.01, in 0 .. 1, "Growth per acknowledged segment, in segments", "Kelly 2003; Linux tcp_scalable.c, TCP_SCALABLE_AI_CNT";
        b: f64 = 0.125, in 0 .. 1, "Decrease on loss, as a share of the window", "Kelly 2003; Linux tcp_scalable.c, TCP_SCALABLE_MD_SCALE";
        rules: Rules = Rules::Published, "Whose counting: linux grows in whole segments", "Kelly 2003; Linux tcp_scalable.c, tcp_scalable_cong_avoid and tcp_scalable_ssthresh";
    }
}

variants! {
    Scalable(ScalableParameters) by Rules {
        Published(published::Published) = "published",
        Linux(linux::Linux) = "linux",
    }
}

about! { Scalable:
    name: "scalable",
    aliases: ["stcp"],
    title: "Scalable TCP",
    class: "loss",
    year: 2003,
    source: "Kelly, ACM SIGCOMM CCR 33 (2003)",
    deviations: "the window grows as in Reno while that is faster, up to 1/a segments, and b applies to windows of any \
                 size, both as in Linux tcp_scalable.c; the paper uses Reno for windows below a fixed size",
}
