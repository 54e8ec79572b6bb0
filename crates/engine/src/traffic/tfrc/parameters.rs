//! Parameters of TFRC.

parameters! {
    pub struct TfrcParameters {
        rtt_weight: f64 = 0.9, in 0 .. 1, "Weight q of past samples in the RTT estimate", "RFC 5348 section 4.3: 0.9 is RECOMMENDED";
        oscillation_prevention: bool = true, "Reduce the rate as the queueing delay rises", "RFC 5348 section 4.5: SHOULD be implemented";
        root_rtt_weight: f64 = 0.9, in 0 .. 1, "Weight q2 of past samples in the mean of the RTT's square root, for oscillation prevention", "RFC 5348 section 4.5: 0.9 is RECOMMENDED";
        loss_intervals: u64 = 8, in 1 .. 64, "Number n of loss intervals that are averaged", "RFC 5348 section 5.4: 8 is RECOMMENDED";
        history_discounting: bool = false, "Let a long interval without loss reduce the weight of older ones", "RFC 5348 section 5.5: OPTIONAL; ns-2.35 has it on (discount_)";
        discount_threshold: f64 = 0.25, in 0 .. 1, "Minimum discount factor of history discounting", "RFC 5348 section 5.5, THRESHOLD";
    }
}
