"""Which module of Linux has the algorithm of a built-in congestion control."""

#: Names of built-in congestion controls and of the files in ``net/ipv4`` of a kernel's sources.
PAIRS = {
    "bbr": "tcp_bbr.c",
    "bbr3": "tcp_bbr.c",
    "bic": "tcp_bic.c",
    "cubic": "tcp_cubic.c",
    "dctcp": "tcp_dctcp.c",
    "hstcp": "tcp_highspeed.c",
    "htcp": "tcp_htcp.c",
    "hybla": "tcp_hybla.c",
    "illinois": "tcp_illinois.c",
    "lp": "tcp_lp.c",
    "prague": "tcp_prague.c",
    "scalable": "tcp_scalable.c",
    "vegas": "tcp_vegas.c",
    "veno": "tcp_veno.c",
    "westwood": "tcp_westwood.c",
    "yeah": "tcp_yeah.c",
}

#: The slow starts that modules bring along, where the built-in algorithm takes that of the flow.
SLOW_STARTS = {"cubic": "hystart"}
