//! The states of section 5.1 and the transitions that it allows.

/// BBR.state, in the order of the phases that the catalogue lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Startup,
    Drain,
    /// ProbeBW_DOWN.
    Down,
    /// ProbeBW_CRUISE.
    Cruise,
    /// ProbeBW_REFILL.
    Refill,
    /// ProbeBW_UP.
    Up,
    ProbeRtt,
}

impl Mode {
    /// Whether this is one of the ProbeBW states.
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// IsProbingBW().
    pub(super) fn accelerates(self) -> bool {
        matches!(self, Mode::Startup | Mode::Refill | Mode::Up)
    }

    /// Whether the state machine of section 5.1.1 allows the transition to `next`.
    pub(super) fn may_become(self, next: Mode) -> bool {
        match (self, next) {
            // The regular sequence of states and the probing cycle.
            (Mode::Startup, Mode::Drain)
            | (Mode::Drain, Mode::Down)
            | (Mode::Down, Mode::Cruise)
            | (Mode::Down | Mode::Cruise, Mode::Refill)
            | (Mode::Refill, Mode::Up)
            | (Mode::Up, Mode::Down) => true,
            // ProbeRTT is entered from any state and left to where the flow was (section 5.3.4.4).
            (from, Mode::ProbeRtt) => from != Mode::ProbeRtt,
            (Mode::ProbeRtt, to) => matches!(to, Mode::Startup | Mode::Down),
            // A spurious loss that ended Startup or a probe is undone (section 5.5.11.2).
            (from, Mode::Startup) => from != Mode::Startup,
            (Mode::Refill, Mode::Refill) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Mode; 7] =
        [Mode::Startup, Mode::Drain, Mode::Down, Mode::Cruise, Mode::Refill, Mode::Up, Mode::ProbeRtt];

    /// The allowed transitions are those of the diagram in section 5.1.1, and those of section 5.5.11.2 back to Startup
    /// and Refill.
    #[test]
    fn draft_transitions() {
        let successors = |from: Mode| MODES.into_iter().filter(|to| from.may_become(*to)).collect::<Vec<_>>();
        assert_eq!(successors(Mode::Startup), [Mode::Drain, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::Drain), [Mode::Startup, Mode::Down, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::Down), [Mode::Startup, Mode::Cruise, Mode::Refill, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::Cruise), [Mode::Startup, Mode::Refill, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::Refill), [Mode::Startup, Mode::Refill, Mode::Up, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::Up), [Mode::Startup, Mode::Down, Mode::ProbeRtt]);
        assert_eq!(successors(Mode::ProbeRtt), [Mode::Startup, Mode::Down]);
    }
}
