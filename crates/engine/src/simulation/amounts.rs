//! Amounts as people read them.

use crate::time::{Duration, PICOSECONDS_PER_SECOND};

/// A number with separated thousands; from a million million on, two digits and an exponent.
pub fn count(number: u128) -> String {
    if number >= 1_000_000_000_000 {
        return format!("{:.1e}", number as f64);
    }
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

/// A number of bytes with a unit, to two digits or three.
pub fn bytes(number: u128) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if value >= 9.95 { format!("{value:.0} {}", units[unit]) } else { format!("{value:.1} {}", units[unit]) }
}

/// A duration in the largest unit that needs no fraction.
pub fn duration(duration: Duration) -> String {
    let units = [(PICOSECONDS_PER_SECOND, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")];
    let fitting = units.into_iter().find(|(factor, _)| duration.0.is_multiple_of(*factor));
    fitting.map_or_else(String::new, |(factor, unit)| format!("{} {unit}", duration.0 / factor))
}
