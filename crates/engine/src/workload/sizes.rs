//! Distributions of transfer sizes.

use std::f64::consts::{PI, SQRT_2};

use crate::random::{Purpose, Random};
use crate::specification::SizeDistribution;

/// A distribution of sizes, of which sizes are drawn.
#[derive(Clone, Debug)]
pub struct Sizes {
    distribution: SizeDistribution,
}

/// The greatest size that is drawn, in bytes: sequence numbers stay far from the end of a `u64`.
const GREATEST: f64 = (1u64 << 53) as f64;

/// Sizes that stand for the distribution where the mean of a part of a segment is needed.
const STANDING: u32 = 20_000;

impl Sizes {
    pub fn new(distribution: &SizeDistribution) -> Result<Sizes, String> {
        let is_size = |size: f64| (1.0..=GREATEST).contains(&size);
        let known = |name: &str, size: f64| {
            if is_size(size) { Ok(()) } else { Err(format!("{name} must be 1 byte to 2^53 bytes")) }
        };
        match distribution {
            SizeDistribution::Fixed(size) => known("size", *size as f64)?,
            SizeDistribution::Exponential { mean } => known("mean", *mean)?,
            SizeDistribution::Lognormal { mean, sigma, least, most } => {
                known("mean", *mean)?;
                if !(*sigma > 0.0 && *sigma <= 10.0) {
                    return Err("sigma must be above 0 and at most 10".to_owned());
                }
                if Lognormal::new(*mean, *sigma, *least, *most).share < LEAST_SHARE {
                    return Err("least and most leave too few sizes; must leave one in a hundred".to_owned());
                }
            }
            SizeDistribution::Pareto { shape, least, most } => {
                known("least", *least)?;
                if !(*shape > 0.0 && *shape <= 100.0) {
                    return Err("shape must be above 0 and at most 100".to_owned());
                }
                match most {
                    Some(most) if !is_size(*most) || most <= least => {
                        return Err("most must be greater than least".to_owned());
                    }
                    None if *shape <= 1.0 => {
                        return Err("the mean is infinite; shape must be above 1, or most must be given".to_owned());
                    }
                    _ => {}
                }
            }
            SizeDistribution::Empirical(points) => check_points(points)?,
        }
        Ok(Sizes { distribution: distribution.clone() })
    }

    /// The mean size in bytes.
    pub fn mean(&self) -> f64 {
        match &self.distribution {
            SizeDistribution::Fixed(size) => *size as f64,
            SizeDistribution::Exponential { mean } => *mean,
            SizeDistribution::Lognormal { mean, sigma, least, most } => {
                let part = Lognormal::new(*mean, *sigma, *least, *most);
                mean * part.between(part.mu + sigma * sigma) / part.share
            }
            SizeDistribution::Pareto { shape, least, most } => match most {
                None => shape * least / (shape - 1.0),
                Some(most) => mean_of_bounded_pareto(*shape, *least, *most),
            },
            SizeDistribution::Empirical(points) => {
                let between = points.windows(2).map(|ends| (ends[1].1 - ends[0].1) * (ends[0].0 + ends[1].0) / 2.0);
                points[0].0 * points[0].1 + between.sum::<f64>()
            }
        }
    }

    /// The mean number of segments of `segment` bytes that a size fills.
    pub fn mean_segments(&self, segment: u64) -> f64 {
        // Only the part that the last segment lacks is estimated, which is less than one.
        let mut random = Random::stream(0, Purpose::Sizes, u64::MAX);
        let lacking = |size: u64| size.div_ceil(segment) as f64 - size as f64 / segment as f64;
        let sum: f64 = (0..STANDING).map(|_| lacking(self.draw(&mut random))).sum();
        self.mean() / segment as f64 + sum / f64::from(STANDING)
    }

    /// Draws a size in bytes, at least one.
    pub fn draw(&self, random: &mut Random) -> u64 {
        self.count(random).max(1)
    }

    /// Draws a number of things, none perhaps.
    pub fn count(&self, random: &mut Random) -> u64 {
        match &self.distribution {
            SizeDistribution::Fixed(count) => *count,
            _ => rounded_up(self.value(random)) as u64,
        }
    }

    /// The mean number of things.
    pub fn mean_count(&self) -> f64 {
        // Only the part by which they are rounded up is estimated, which is less than one.
        let mut random = Random::stream(0, Purpose::Sizes, u64::MAX);
        let added = |value: f64| rounded_up(value) - value;
        let sum: f64 = (0..STANDING).map(|_| added(self.value(&mut random))).sum();
        self.mean() + sum / f64::from(STANDING)
    }

    /// Draws a value of the distribution before it is rounded up.
    fn value(&self, random: &mut Random) -> f64 {
        match &self.distribution {
            SizeDistribution::Fixed(size) => *size as f64,
            SizeDistribution::Exponential { mean } => -libm::log(1.0 - random.unit()) * mean,
            SizeDistribution::Lognormal { mean, sigma, least, most } => {
                let part = Lognormal::new(*mean, *sigma, *least, *most);
                loop {
                    let size = libm::exp(part.mu + sigma * normal(random));
                    if part.least <= size && size <= part.most {
                        break size;
                    }
                }
            }
            SizeDistribution::Pareto { shape, least, most } => {
                // Inversion of 1 - (least / x)^shape, which ends at `most`.
                let whole = most.map_or(1.0, |most| 1.0 - libm::pow(least / most, *shape));
                least * libm::pow(1.0 - random.unit() * whole, -1.0 / shape)
            }
            SizeDistribution::Empirical(points) => at_share(points, random.unit()),
        }
    }
}

fn rounded_up(value: f64) -> f64 {
    value.ceil().clamp(0.0, GREATEST)
}

/// The share of log-normal sizes that their bounds leave at least: others are drawn again.
const LEAST_SHARE: f64 = 0.01;

/// A log-normal distribution that is cut off.
struct Lognormal {
    mu: f64,
    sigma: f64,
    least: f64,
    most: f64,
    /// The share of sizes within the bounds.
    share: f64,
}

impl Lognormal {
    fn new(mean: f64, sigma: f64, least: Option<f64>, most: Option<f64>) -> Lognormal {
        let mu = libm::log(mean) - sigma * sigma / 2.0;
        let whole =
            Lognormal { mu, sigma, least: least.unwrap_or(0.0), most: most.unwrap_or(f64::INFINITY), share: 1.0 };
        Lognormal { share: whole.between(mu), ..whole }
    }

    /// The probability that a normal variate of this mean is between the logarithms of the bounds.
    fn between(&self, mean: f64) -> f64 {
        let below = |size: f64| 0.5 * libm::erfc((mean - libm::log(size)) / (self.sigma * SQRT_2));
        below(self.most) - below(self.least)
    }
}

/// A normal variate by the method of Box and Muller (1958).
fn normal(random: &mut Random) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - random.unit()));
    radius * libm::cos(2.0 * PI * random.unit())
}

fn mean_of_bounded_pareto(shape: f64, least: f64, most: f64) -> f64 {
    let ratio = least / most;
    let whole = 1.0 - libm::pow(ratio, shape);
    if (shape - 1.0).abs() < 1e-9 {
        return least * libm::log(1.0 / ratio) / whole;
    }
    shape * least * (1.0 - libm::pow(ratio, shape - 1.0)) / ((shape - 1.0) * whole)
}

/// The size at a share of a distribution function whose points lines join. What it has at its first point are sizes of just that.
fn at_share(points: &[(f64, f64)], share: f64) -> f64 {
    if share < points[0].1 {
        return points[0].0;
    }
    let above = points.partition_point(|(_, cumulative)| *cumulative <= share).clamp(1, points.len() - 1);
    let ((low, before), (high, after)) = (points[above - 1], points[above]);
    low + (high - low) * (share - before) / (after - before)
}

fn check_points(points: &[(f64, f64)]) -> Result<(), String> {
    if points.len() < 2 {
        return Err("a distribution function needs two points".to_owned());
    }
    for pair in points.windows(2) {
        if pair[1].0 < pair[0].0 || pair[1].1 < pair[0].1 {
            return Err("the points of a distribution function must be in order of size and of probability".to_owned());
        }
    }
    let (first, last) = (points[0], points[points.len() - 1]);
    if !(0.0..=1.0).contains(&first.1) || last.1 != 1.0 {
        return Err(format!("the probabilities must end at 1, not at {}", last.1));
    }
    if first.0 < 0.0 || !(1.0..=GREATEST).contains(&last.0) {
        return Err("sizes must be 0 to 2^53 bytes".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(distribution: SizeDistribution, count: usize) -> (Sizes, Vec<u64>) {
        let sizes = Sizes::new(&distribution).expect("allowed");
        let mut random = Random::stream(1, Purpose::Sizes, 0);
        let all = (0..count).map(|_| sizes.draw(&mut random)).collect();
        (sizes, all)
    }

    /// The mean of a hundred thousand sizes is within four standard errors of the mean that the distribution states.
    #[test]
    fn stated_means() {
        let distributions = [
            SizeDistribution::Fixed(50_000),
            SizeDistribution::Exponential { mean: 50_000.0 },
            SizeDistribution::Lognormal { mean: 50_000.0, sigma: 1.0, least: None, most: None },
            SizeDistribution::Lognormal { mean: 7758.0, sigma: 2.36, least: Some(50.0), most: Some(2e6) },
            SizeDistribution::Pareto { shape: 1.2, least: 10_000.0, most: Some(1e6) },
            SizeDistribution::Pareto { shape: 1.0, least: 10_000.0, most: Some(1e6) },
            SizeDistribution::Pareto { shape: 3.0, least: 10_000.0, most: None },
            SizeDistribution::Empirical(vec![(0.0, 0.0), (10_000.0, 0.5), (90_000.0, 1.0)]),
            SizeDistribution::Empirical(vec![(10_000.0, 0.4), (90_000.0, 1.0)]),
        ];
        for distribution in distributions {
            let (sizes, all) = drawn(distribution, 100_000);
            let count = all.len() as f64;
            let mean = all.iter().map(|size| *size as f64).sum::<f64>() / count;
            let variance = all.iter().map(|size| (*size as f64 - mean).powi(2)).sum::<f64>() / (count - 1.0);
            // Sizes are rounded up, by half a byte on average.
            let error = 4.0 * (variance / count).sqrt() + 1.0;
            assert!((mean - sizes.mean()).abs() < error, "{sizes:?}: {mean}, stated {}", sizes.mean());
        }
    }

    /// Hill's estimator (1975) of the tail index of Pareto sizes is the shape, within four of its standard errors shape / sqrt(k).
    #[test]
    fn pareto_tail_index() {
        let (_, mut all) = drawn(SizeDistribution::Pareto { shape: 1.5, least: 1e5, most: None }, 100_000);
        all.sort_unstable_by(|a, b| b.cmp(a));
        let tail = 10_000;
        let sum: f64 = all[..tail].iter().map(|size| (*size as f64 / all[tail] as f64).ln()).sum();
        let index = tail as f64 / sum;
        assert!((index - 1.5).abs() < 4.0 * 1.5 / (tail as f64).sqrt(), "{index}");
    }

    /// Of the sizes of an empirical distribution, the share up to each of its points is the probability there, within four
    /// standard errors.
    #[test]
    fn empirical_shares() {
        let points = vec![(0.0, 0.0), (10_000.0, 0.15), (80_000.0, 0.53), (1e6, 0.7), (3e7, 1.0)];
        let (_, all) = drawn(SizeDistribution::Empirical(points.clone()), 100_000);
        for (size, share) in points {
            let found = all.iter().filter(|drawn| **drawn as f64 <= size).count() as f64 / all.len() as f64;
            assert!(
                (found - share).abs() <= 4.0 * (share * (1.0 - share) / all.len() as f64).sqrt(),
                "{size}: {found}"
            );
        }
    }

    /// Of a distribution function with points at whole numbers, each number has the probability by which it rises there, none among
    /// them, within four standard errors.
    #[test]
    fn numbers_of_things() {
        let points = vec![(0.0, 0.3), (1.0, 0.5), (2.0, 0.5), (3.0, 1.0)];
        let numbers = Sizes::new(&SizeDistribution::Empirical(points)).expect("allowed");
        let mut random = Random::stream(1, Purpose::Sizes, 0);
        let all: Vec<u64> = (0..100_000).map(|_| numbers.count(&mut random)).collect();
        assert!((numbers.mean_count() - (0.2 + 3.0 * 0.5)).abs() < 4.0 * 1.2 / f64::from(STANDING).sqrt());
        for (number, law) in [(0, 0.3), (1, 0.2), (2, 0.0), (3, 0.5)] {
            let share = all.iter().filter(|drawn| **drawn == number).count() as f64 / all.len() as f64;
            assert!((share - law).abs() <= 4.0 * f64::sqrt(law * (1.0 - law) / all.len() as f64), "{number}: {share}");
        }
    }

    /// Sizes in whole segments have no part of a segment; exponential ones of many segments lack half a segment on average.
    #[test]
    fn mean_segments() {
        let fixed = |size| Sizes::new(&SizeDistribution::Fixed(size)).expect("allowed").mean_segments(1000);
        assert!((fixed(5000) - 5.0).abs() < 1e-9);
        assert!((fixed(5001) - 6.0).abs() < 1e-9);
        let exponential = Sizes::new(&SizeDistribution::Exponential { mean: 1e6 }).expect("allowed");
        // Four standard errors of a uniform number.
        let error = 4.0 * (1.0 / 12.0f64).sqrt() / f64::from(STANDING).sqrt();
        assert!((exponential.mean_segments(1000) - 1000.5).abs() < error, "{}", exponential.mean_segments(1000));
    }

    /// A Pareto distribution without a bound has no mean if its shape is 1 or less, and is refused.
    #[test]
    fn infinite_mean() {
        let unbounded = |shape| Sizes::new(&SizeDistribution::Pareto { shape, least: 1000.0, most: None });
        assert!(unbounded(1.0).is_err());
        assert!(unbounded(1.01).is_ok());
    }
}
