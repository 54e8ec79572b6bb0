//! What can be set of TFRC.

use crate::parameters;

parameters! {
    /// What can be set of TFRC.
    pub struct TfrcParameters {
        rtt_weight: f64 = 0.9, in 0 .. 1, "Weight q of the past in the estimate of the round-trip time", "RFC 5348 section 4.3: 0.9 is RECOMMENDED";
        oscillation_prevention: bool = true, "Whether the rate is reduced as the queueing delay rises", "RFC 5348 section 4.5: SHOULD be implemented";
        root_rtt_weight: f64 = 0.9, in 0 .. 1, "Weight q2 of the past in the mean of the RTT's square root, for oscillation prevention", "RFC 5348 section 4.5: 0.9 is RECOMMENDED";
        loss_intervals: u64 = 8, in 1 .. 64, "Number n of loss intervals of which the mean is taken", "RFC 5348 section 5.4: 8 is RECOMMENDED";
        history_discounting: bool = false, "Whether a long interval without loss takes weight from the older ones", "RFC 5348 section 5.5: OPTIONAL; ns-2.35 has it on (discount_)";
        discount_threshold: f64 = 0.25, in 0 .. 1, "The least weight that history discounting leaves at a time", "RFC 5348 section 5.5, THRESHOLD";
    }
}
