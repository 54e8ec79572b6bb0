//! Processes of arrivals.

use super::Sizes;
use crate::random::{Purpose, Random};
use crate::specification::{ArrivalProcess, ArrivalSpecification, Intensity};
use crate::time::{Duration, Time};
use crate::units::Rate;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub time: Time,
    /// Bytes of its data.
    pub size: u64,
}

/// The arrivals of a group of flows. Times and sizes have a random stream each, so that another distribution of sizes with the
/// same rate of arrivals keeps their times.
#[derive(Debug)]
pub struct Arrivals {
    process: Process,
    start: Time,
    so_far: u64,
    latest: Time,
}

#[derive(Debug)]
enum Process {
    Drawn { gaps: Gaps, sizes: Sizes, of_sizes: Random },
    Users { count: u64, think: Duration, random: Random, sizes: Sizes, of_sizes: Random },
    Listed(Vec<(Time, u64)>),
}

#[derive(Debug)]
enum Gaps {
    Exponential { mean: Duration, random: Random },
    Equal { seconds: f64, phase: f64 },
}

/// The slowest link of a group's path, of whose rate a load is a part, and what its connections put there.
#[derive(Clone, Copy, Debug)]
pub struct SlowestLink {
    pub rate: Rate,
    /// Payload of a full segment, in bytes.
    pub segment: u64,
    /// Headers of a segment, in bytes.
    pub overhead: u64,
    /// Bytes of a SYN.
    pub syn: u64,
}

/// The most users of a group.
const MOST_USERS: u64 = 1_000_000;

/// The greatest intensity, in flows a second.
const GREATEST: f64 = 1e9;

impl Arrivals {
    pub fn new(
        given: &ArrivalSpecification,
        start: Time,
        link: &SlowestLink,
        seed: u64,
        group: u64,
    ) -> Result<Arrivals, String> {
        let process = match &given.process {
            ArrivalProcess::Listed(listed) => {
                if !listed.is_sorted_by_key(|(time, _)| *time) {
                    return Err("arrivals: times must be in order".to_owned());
                }
                if listed.iter().any(|(_, size)| *size == 0 || *size > 1 << 53) {
                    return Err("arrivals: sizes must be 1 to 2^53 bytes".to_owned());
                }
                Process::Listed(listed.clone())
            }
            ArrivalProcess::Users { count, think } => {
                if *count == 0 || *count > MOST_USERS || *think == Duration::ZERO {
                    return Err(format!("arrivals: users must be 1 to {MOST_USERS}, and think for more than no time"));
                }
                Process::Users {
                    count: *count,
                    think: *think,
                    random: Random::stream(seed, Purpose::Arrivals, group),
                    sizes: sizes_of(given)?,
                    of_sizes: Random::stream(seed, Purpose::Sizes, group),
                }
            }
            ArrivalProcess::Poisson(intensity) => {
                let rate = flows_a_second(*intensity, given, link)?;
                let random = Random::stream(seed, Purpose::Arrivals, group);
                drawn(Gaps::Exponential { mean: Duration::from_seconds_f64(1.0 / rate), random }, given, seed, group)?
            }
            ArrivalProcess::Deterministic { every, phase } => {
                let seconds = 1.0 / flows_a_second(*every, given, link)?;
                drawn(Gaps::Equal { seconds, phase: *phase }, given, seed, group)?
            }
        };
        Ok(Arrivals { process, start, so_far: 0, latest: start })
    }

    /// One, at a time.
    pub fn once(start: Time) -> Arrivals {
        Arrivals { process: Process::Listed(vec![(Time::ZERO, 1)]), start, so_far: 0, latest: start }
    }

    /// Whether no more than one arrives.
    pub fn is_single(&self) -> bool {
        matches!(&self.process, Process::Listed(transfers) if transfers.len() == 1)
    }

    /// How many users bring the transfers; none if they arrive whatever becomes of others.
    pub fn users(&self) -> u64 {
        if let Process::Users { count, .. } = self.process { count } else { 0 }
    }

    /// How long a user thinks who begins to think; none without users.
    pub fn think(&mut self) -> Option<Duration> {
        match &mut self.process {
            Process::Users { think, random, .. } => Some(random.exponential(*think)),
            _ => None,
        }
    }

    /// The size of the transfer of a user who has thought.
    pub fn size(&mut self) -> Option<u64> {
        match &mut self.process {
            Process::Users { sizes, of_sizes, .. } => Some(sizes.draw(of_sizes)),
            _ => None,
        }
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let arrival = match &mut self.process {
            Process::Listed(listed) => {
                let (time, size) = *listed.get(self.so_far as usize)?;
                Arrival { time: self.start + Duration(time.0), size }
            }
            Process::Users { .. } => return None,
            Process::Drawn { gaps, sizes, of_sizes } => {
                let time = match gaps {
                    Gaps::Exponential { mean, random } => self.latest + random.exponential(*mean),
                    Gaps::Equal { seconds, phase } => {
                        self.start + Duration::from_seconds_f64((self.so_far as f64 + *phase) * *seconds)
                    }
                };
                Arrival { time, size: sizes.draw(of_sizes) }
            }
        };
        self.so_far += 1;
        self.latest = arrival.time;
        Some(arrival)
    }
}

fn drawn(gaps: Gaps, given: &ArrivalSpecification, seed: u64, group: u64) -> Result<Process, String> {
    let sizes = sizes_of(given)?;
    Ok(Process::Drawn { gaps, sizes, of_sizes: Random::stream(seed, Purpose::Sizes, group) })
}

fn sizes_of(given: &ArrivalSpecification) -> Result<Sizes, String> {
    let sizes = given.sizes.as_ref().ok_or("size: flows that arrive by themselves need one")?;
    Sizes::new(sizes).map_err(|error| format!("size: {error}"))
}

/// How many flows arrive in a second on average.
pub fn flows_a_second(intensity: Intensity, given: &ArrivalSpecification, link: &SlowestLink) -> Result<f64, String> {
    let rate = match intensity {
        Intensity::Rate(rate) => rate,
        Intensity::Load(load) => load * link.rate.0 as f64 / 8.0 / bytes_a_transfer(&sizes_of(given)?, link),
    };
    if rate > 0.0 && rate <= GREATEST {
        Ok(rate)
    } else {
        Err(format!("arrivals: {rate} flows a second; must be above 0 and at most {GREATEST:e}"))
    }
}

/// The mean load as a part of the rate.
pub fn load(given: &ArrivalSpecification, link: &SlowestLink) -> Result<Option<f64>, String> {
    match given.process {
        ArrivalProcess::Listed(_) | ArrivalProcess::Users { .. } => Ok(None),
        ArrivalProcess::Poisson(intensity) | ArrivalProcess::Deterministic { every: intensity, .. } => {
            match intensity {
                Intensity::Load(load) => Ok(Some(load)),
                Intensity::Rate(rate) => {
                    Ok(Some(rate * bytes_a_transfer(&sizes_of(given)?, link) * 8.0 / link.rate.0 as f64))
                }
            }
        }
    }
}

/// The most transfers of users that complete in a second: those that they ask for if each takes no time, and no more than the link
/// carries.
pub fn most_of_users(
    count: u64,
    think: Duration,
    given: &ArrivalSpecification,
    link: &SlowestLink,
) -> Result<f64, String> {
    let carried = link.rate.0 as f64 / 8.0 / bytes_a_transfer(&sizes_of(given)?, link);
    Ok(carried.min(count as f64 / think.seconds()))
}

/// Mean bytes of a transfer on its way there: data, headers and SYN.
fn bytes_a_transfer(sizes: &Sizes, link: &SlowestLink) -> f64 {
    sizes.mean() + sizes.mean_segments(link.segment) * link.overhead as f64 + link.syn as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specification::SizeDistribution;

    const LINK: SlowestLink = SlowestLink { rate: Rate(100_000_000), segment: 1460, overhead: 40, syn: 40 };

    fn arrivals(process: ArrivalProcess, size: u64) -> Arrivals {
        let given = ArrivalSpecification { process, sizes: Some(SizeDistribution::Fixed(size)) };
        Arrivals::new(&given, Time::ZERO, &LINK, 1, 0).expect("allowed")
    }

    /// Gaps of a Poisson process are exponential: chi-square of a hundred thousand in twenty classes of equal probability is below
    /// the 99.9 % quantile of nineteen degrees of freedom, 43.8.
    #[test]
    fn poisson_gaps() {
        let mut before = Time::ZERO;
        let mut counts = [0u32; 20];
        let draws = 100_000;
        for arrival in arrivals(ArrivalProcess::Poisson(Intensity::Rate(1000.0)), 1).take(draws) {
            let share = 1.0 - (-arrival.time.since(before).seconds() * 1000.0).exp();
            counts[((share * 20.0) as usize).min(19)] += 1;
            before = arrival.time;
        }
        let expected = draws as f64 / 20.0;
        let chi_square: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
        assert!(chi_square < 43.8, "{chi_square}");
    }

    /// The numbers of arrivals in intervals of a Poisson process have a variance equal to their mean: the index of dispersion of
    /// ten thousand intervals is 1 within four standard errors, sqrt(2 / n).
    #[test]
    fn poisson_counts() {
        let mut counts = vec![0u32; 10_000];
        for arrival in arrivals(ArrivalProcess::Poisson(Intensity::Rate(1000.0)), 1) {
            let Some(count) = counts.get_mut((arrival.time.seconds() * 100.0) as usize) else { break };
            *count += 1;
        }
        let number = counts.len() as f64;
        let mean = counts.iter().map(|count| f64::from(*count)).sum::<f64>() / number;
        let variance = counts.iter().map(|count| (f64::from(*count) - mean).powi(2)).sum::<f64>() / (number - 1.0);
        assert!((variance / mean - 1.0).abs() < 4.0 * (2.0 / number).sqrt(), "{}", variance / mean);
    }

    /// A load counts headers and the SYN: 0.5 of 100 Mbit/s are 50 Mbit/s of 14,600 bytes in ten segments with 440 bytes of headers.
    #[test]
    fn load_on_the_wire() {
        let process = ArrivalProcess::Deterministic { every: Intensity::Load(0.5), phase: 1.0 };
        let times: Vec<f64> = arrivals(process, 14_600).take(3).map(|arrival| arrival.time.seconds()).collect();
        let gap = 15_040.0 * 8.0 / 50e6;
        for (place, time) in times.iter().enumerate() {
            assert!((time - gap * (place as f64 + 1.0)).abs() < 1e-9, "{times:?}");
        }
    }

    /// Sizes of another distribution do not move the times of arrivals at a given rate.
    #[test]
    fn times_without_sizes() {
        let times = |sizes: SizeDistribution| -> Vec<Time> {
            let given =
                ArrivalSpecification { process: ArrivalProcess::Poisson(Intensity::Rate(10.0)), sizes: Some(sizes) };
            let all = Arrivals::new(&given, Time::ZERO, &LINK, 1, 0).expect("allowed");
            all.take(100).map(|arrival| arrival.time).collect()
        };
        assert_eq!(times(SizeDistribution::Fixed(1)), times(SizeDistribution::Exponential { mean: 1e6 }));
    }

    /// Times that are not in order are refused.
    #[test]
    fn unsorted_times() {
        let process = ArrivalProcess::Listed(vec![(Time(2), 1), (Time(1), 1)]);
        assert!(Arrivals::new(&ArrivalSpecification { process, sizes: None }, Time::ZERO, &LINK, 1, 0).is_err());
    }
}
