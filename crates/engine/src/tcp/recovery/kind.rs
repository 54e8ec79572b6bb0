//! The recovery algorithms a stack can select.

use crate::tcp::scoreboard::LossRule;

choice! {
    /// How losses are recovered without a timeout.
    pub enum RecoveryKind {
        /// No fast recovery: slow start from one segment after a loss (Jacobson 1988).
        Tahoe = "tahoe",
        /// RFC 5681 section 3.2. The first acknowledgement of new data ends the recovery. Does not need SACK.
        Reno = "reno",
        /// RFC 6582, with window inflation. Does not need SACK.
        NewReno = "newreno",
        /// RFC 6675: limits pipe to the halved window.
        Sack = "sack",
        /// Forward acknowledgements: a segment is lost once the highest SACKed segment is the duplicate threshold above
        /// it (Mathis and Mahdavi 1996).
        Fack = "fack",
        /// RFC 9937 proportional rate reduction over RFC 6675 loss detection.
        Prr = "prr",
        /// RFC 8985: loss detection by time, tail loss probes, proportional rate reduction. With `duplicate_sack` it undoes
        /// reductions for spurious losses. Timeouts as in Linux tcp_input.c, tcp_enter_loss and tcp_process_loss.
        Rack = "rack",
        /// That of Linux without SACK (tcp_input.c, tcp_is_reno): as `newreno`, but a duplicate acknowledgement counts as a segment
        /// that was SACKed, the duplicate threshold grows with reordering, the window falls in proportion, and timestamps and
        /// F-RTO undo reductions.
        LinuxNewReno = "linux_newreno",
        /// That of ns-2.35's Agent/TCP/Linux: forward acknowledgements, one segment later; a retransmission is lost once a segment
        /// sent after it is SACKed, or a later retransmission; the window falls by one segment for each sent, and each
        /// acknowledgement restarts the retransmission timer.
        Ns2Linux = "ns2_linux",
        /// That of ns-3.30 (TcpClassicRecovery with SACK): the window falls at once; each partial acknowledgement sends a segment
        /// whatever the window allows, the first one again even if it has been sent again; lost segments are sent outside of fast
        /// recovery too.
        Ns3Classic = "ns3_classic",
        /// That of ns-3.48 (TcpPrrRecovery): as `ns3_classic`, but a partial acknowledgement sends nothing if the first segment has
        /// been sent again, and the window falls in proportion, by RFC 6937 as ns-3 has it.
        Ns3Prr = "ns3_prr",
    }
}

impl RecoveryKind {
    pub fn uses_sack(self) -> bool {
        use RecoveryKind::{Fack, Ns2Linux, Ns3Classic, Ns3Prr, Prr, Rack, Sack};
        matches!(self, Sack | Fack | Prr | Rack | Ns2Linux | Ns3Classic | Ns3Prr)
    }

    pub fn loss_rule(self) -> LossRule {
        match self {
            RecoveryKind::Fack => LossRule::Forward,
            RecoveryKind::Rack => LossRule::Time,
            RecoveryKind::LinuxNewReno => LossRule::Duplicates,
            RecoveryKind::Ns2Linux => LossRule::Beyond,
            RecoveryKind::Ns3Classic | RecoveryKind::Ns3Prr => LossRule::Ns3,
            _ => LossRule::Above,
        }
    }
}
