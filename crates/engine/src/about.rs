//! What an algorithm says of itself.

use serde::Serialize;

/// The entry of a congestion control or a queue discipline in the catalogue.
#[derive(Debug, Serialize)]
pub struct About {
    /// Its name in a scenario.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// Its name in the field.
    pub title: &'static str,
    /// What kind it is: of congestion controls what they react to (`loss`, `marks`, `delay`, `hybrid`, `model`, `rate`), of queue
    /// disciplines `passive`, `aqm` or `scheduler`.
    pub class: &'static str,
    /// Year of the source.
    pub year: u16,
    /// What it follows.
    pub source: &'static str,
    /// Where it deviates from the source.
    pub deviations: &'static str,
}
