//! The throughput of TCP as a function of the loss event rate: RFC 5348 section 3.1 with the recommended t_RTO = 4 R
//! and b = 1, in the form of section 8.1: X = s / (R f(p)).

/// f(p): the reciprocal of the TCP rate, in segments per round-trip time.
pub fn response(p: f64) -> f64 {
    f64::sqrt(2.0 * p / 3.0) + 12.0 * f64::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p)
}

/// X_Bps, in bytes per second, for a segment size in bytes and a round-trip time in seconds.
pub fn throughput(segment: f64, rtt: f64, p: f64) -> f64 {
    segment / (rtt * response(p))
}

/// Number of bisections for the inverse: full precision.
const HALVINGS: u32 = 64;

/// The loss event rate at which f(p) has this value, at most 1.
pub fn loss_event_rate(response_sought: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if response(middle) < response_sought {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// f(p) as tabulated in Linux 2.6.24, net/dccp/ccids/lib/tfrc_equation.c, in millionths, truncated.
    #[test]
    fn linux_table() {
        for (p, millionths) in [
            (0.0001, 8_172),
            (0.001, 26_052),
            (0.002, 37_172),
            (0.01, 89_021),
            (0.05, 271_305),
            (0.1, 564_939),
            (0.2, 1_863_717),
            (1.0, 243_315_981),
        ] {
            let tabulated = f64::from(millionths) / 1e6;
            let ours = response(p);
            assert!((ours - tabulated).abs() <= 1e-6, "f({p}) = {ours}, in the table {tabulated}");
        }
    }

    /// For small p timeouts are negligible: X = sqrt(3/2) s / (R sqrt(p)), the law of Mathis et al. 1997.
    #[test]
    fn square_root_law() {
        for p in [1e-8, 1e-7, 1e-6] {
            let rate = throughput(1000.0, 0.1, p);
            let law = 1000.0 / 0.1 * f64::sqrt(1.5 / p);
            assert!((rate / law - 1.0).abs() < 1e-5, "p = {p}: {rate}, by the law {law}");
        }
    }

    /// The equation at the inverse of a rate gives a rate within 5 % of it (section 6.3.1).
    #[test]
    fn inverse() {
        for p in [1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.5, 1.0] {
            let found = loss_event_rate(response(p));
            assert!((found / p - 1.0).abs() < 1e-6, "{p} came back as {found}");
        }
        assert!((loss_event_rate(1e9) - 1.0).abs() < 1e-12, "no loss event rate is above 1");
    }
}
