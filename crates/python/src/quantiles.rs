//! Quantiles of distributions, for confidence intervals. cdflib's distribution functions have 13 digits, its own quantiles eight, and
//! none for small shares of many.

use cdflib::{Beta, ContinuousCdf, StudentsT};
use pyo3::prelude::*;

/// The quantile of Student's t for p of one half or more; no number without degrees of freedom.
#[pyfunction]
pub fn student_quantile(degrees: f64, p: f64) -> f64 {
    StudentsT::try_new(degrees).map_or(f64::NAN, |student| quantile(&student, p, f64::MAX))
}

/// The quantile of the beta distribution; no number where a parameter is not positive.
#[pyfunction]
pub fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    Beta::try_new(a, b).map_or(f64::NAN, |beta| quantile(&beta, p, 1.0))
}

/// The least number from 0 to `most` whose probability is p or more, by bisection: such numbers are in the order of their bits.
fn quantile(distribution: &impl ContinuousCdf, p: f64, most: f64) -> f64 {
    let (mut below, mut enough) = (0, most.to_bits());
    while enough - below > 1 {
        let middle = below.midpoint(enough);
        if distribution.cdf(f64::from_bits(middle)) < p {
            below = middle;
        } else {
            enough = middle;
        }
    }
    f64::from_bits(enough)
}
