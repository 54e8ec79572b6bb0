//! The description of an algorithm.

use serde::Serialize;

use crate::inner::StateValue;

/// An algorithm in the catalogue.
pub trait Listed {
    const ABOUT: About;
}

/// The catalogue entry of a congestion control, a queue discipline, or a rule that chooses bit rates of video.
#[derive(Debug, Serialize)]
pub struct About {
    /// The name in a scenario.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// The established name.
    pub title: &'static str,
    /// The class: for congestion controls the signal they respond to (`loss`, `marks`, `delay`, `hybrid`, `model`,
    /// `rate`), for queue disciplines `passive`, `aqm` or `scheduler`, for rules of video `buffer` or `rate`.
    pub class: &'static str,
    /// Year of the source.
    pub year: u16,
    pub source: &'static str,
    pub deviations: &'static str,
    /// What it tells of its inner state.
    #[serde(skip_serializing_if = "<[StateValue]>::is_empty")]
    pub state: &'static [StateValue],
}

/// Declares the entry of an algorithm in the catalogue: the fields of [`About`]. Without `aliases` it has no other name, without
/// `state`, the struct of its inner state, it tells nothing of that.
macro_rules! about {
    ($algorithm:ident: name: $name:literal, $(aliases: [$($alias:literal),*],)? $(state: $state:ty,)? title: $($rest:tt)*) => {
        impl $crate::about::Listed for $algorithm {
            const ABOUT: $crate::about::About = $crate::about::About {
                name: $name,
                aliases: &[$($($alias),*)?],
                state: about!(@state $($state)?),
                title: $($rest)*
            };
        }
    };
    (@state) => { &[] };
    (@state $state:ty) => { <$state>::VALUES };
}
