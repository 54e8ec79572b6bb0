//! Shell lines and options as settings.

use sojourn_packetdrill::host::{Host, Missing};
use sojourn_packetdrill::script::parse;

fn host(text: &str) -> Result<Host, Missing> {
    Host::of(&parse(text).unwrap_or_else(|problem| panic!("{text}: {problem}")))
}

/// Both ways of setting sysctls, quoted or over several lines, change the host, in their order.
#[test]
fn sysctls_are_set() {
    let text = "--tolerance_usecs=7000\n`../common/defaults.sh\n../common/set_sysctls.py \
                /proc/sys/net/ipv4/tcp_wmem=\"4096 50000 4194304\" \\\n  /proc/sys/net/ipv4/tcp_min_tso_segs=10\n\
                sysctl -q net.ipv4.tcp_ecn=0x2    # server\nethtool -K tun0 tso off gso off; tc qdisc add dev tun0 root pfifo`";
    let host = host(text).unwrap();
    assert_eq!((host.number("min_tso_segs"), host.number("ecn")), (Some(10), Some(2)));
    assert_eq!((host.tolerance, host.segmentation_offload), (7_000, false));
}

/// What an endpoint does not have is told by name: lines of the shell, sysctls of other protocols, options.
#[test]
fn missing_features_told() {
    for (text, missing) in [
        (
            "`ip route change 192.0.2.1 via 192.168.0.2 dev tun0 mtu lock 640`",
            "`ip route change 192.0.2.1 via 192.168.0.2 dev tun0 mtu lock 640`",
        ),
        ("`sysctl -q net.core.somaxconn=2`", "net.core.somaxconn"),
        (
            "`sysctl -q net.ipv4.tcp_wmem=\"4096 50000 4194304\" net.ipv4.tcp_early_retrans=1`",
            "net.ipv4.tcp_early_retrans=1",
        ),
        ("--so_filename=\"x.so\"", "--so_filename"),
        ("`tc qdisc replace dev tun0 root pfifo limit 0`", "`tc qdisc replace dev tun0 root pfifo limit 0`"),
    ] {
        assert_eq!(host(text), Err(Missing(missing.to_owned())), "{text}");
    }
}
