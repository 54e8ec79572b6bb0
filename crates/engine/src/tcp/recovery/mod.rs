//! Loss recovery without a timeout: how much may be sent while lost segments are repaired.

mod newreno;
mod prr;

pub use newreno::Inflation;
pub use prr::ProportionalRateReduction;

/// Where a sender stands with regard to losses.
#[derive(Clone, Debug)]
pub enum Phase {
    /// No loss is being repaired.
    Open,
    /// Fast recovery, until everything below `point` is acknowledged.
    Recovery {
        /// Sequence number one past the highest sent when it began.
        point: u64,
        /// How it paces the repair.
        reduction: Reduction,
        /// SND.UNA from which NextSeg() rule 4 may be used: RescueRxt + 1 of RFC 6675, which has it wait for the first
        /// retransmission to be acknowledged, and allows it once.
        rescue_from: u64,
    },
    /// After a timeout, until everything below `point` is acknowledged.
    Loss {
        /// Sequence number one past the highest sent when the timer expired.
        point: u64,
    },
}

/// How the window comes down during fast recovery.
#[derive(Clone, Debug)]
pub enum Reduction {
    /// RFC 6582: the window is halved and inflated by duplicate acknowledgements.
    Inflation(Inflation),
    /// RFC 6675: the window is halved at once and pipe runs against it.
    AtOnce,
    /// RFC 9937: in proportion to what is delivered.
    Proportional(ProportionalRateReduction),
}
