//! ns-3's rules of algorithms whose RFC or paper says something else, one file each. Written from the behaviour of its
//! sources; the functions named are where it is defined.

pub(super) mod bbr;
pub(super) mod compound;
pub(super) mod compound_2014;
pub(super) mod cubic;
pub(super) mod cubic_module;
pub(super) mod hstcp;
pub(super) mod htcp;

use crate::choice;

choice! {
    /// Whose rules an algorithm follows where they differ.
    pub enum Rules {
        /// Those of its RFC or paper.
        Published = "published",
        /// Those of Linux.
        Linux = "linux",
        /// Those of ns-3.
        Ns3 = "ns3",
    }
}
