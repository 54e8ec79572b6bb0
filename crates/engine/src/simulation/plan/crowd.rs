//! How many flows a group has, and what they add to the result.

use crate::application::Blueprint;
use crate::simulation::ideal::Ideal;
use crate::specification::{ArrivalProcess, ArrivalSpecification, FlowSpecification};
use crate::time::Time;
use crate::workload;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    /// Flows at the same time.
    pub open: u64,
    /// Rows of transfers that it adds to the result.
    pub transfers: u64,
    /// Messages that are written faster than the path carries them, and so wait at the end.
    pub waiting: u64,
}

/// How long the timers of a connection that has ended wait (RFC 6298 section 2.1), and what it may take besides transmission.
const LINGERS: f64 = 1.0;

impl Crowd {
    /// Of a group with these arrivals and this application, in a run that ends then.
    ///
    /// # Errors
    /// One line that says what is wrong with the arrivals.
    pub fn new(
        flow: &FlowSpecification,
        arrivals: Option<&ArrivalSpecification>,
        application: Option<&Blueprint>,
        ideal: &Ideal,
        end: Time,
    ) -> Result<Crowd, String> {
        let crowd = match arrivals {
            None => Crowd { open: flow.count, transfers: if flow.size.is_some() { flow.count } else { 0 }, waiting: 0 },
            Some(arrivals) => arriving(arrivals, ideal, end)?,
        };
        let Some(application) = application else { return Ok(crowd) };
        let extent = application.extent();
        let sessions = if arrivals.is_some() { crowd.transfers } else { flow.count };
        // A message takes half a round trip at least; what does not end has as many rows as the run has time for.
        let most = 2.0 * end.seconds() / ideal.round_trip.seconds().max(1e-6);
        let endless = extent.pace.map_or(most, |pace| end.seconds() / pace.seconds());
        let rows = extent.rows.map_or(endless, |rows| rows.min(most * extent.connections as f64));
        // Only these are written whether or not the connection has carried the ones before.
        let waiting = match (application, extent.pace) {
            (Blueprint::Periodic(_), Some(pace)) => {
                let carried = ideal.path.rate.0 as f64 / 8.0 / extent.bytes.max(1.0);
                (1.0 / pace.seconds() - carried).max(0.0) * end.seconds() * flow.count as f64
            }
            _ => 0.0,
        };
        Ok(Crowd {
            open: crowd.open.saturating_mul(2 * extent.connections),
            transfers: (sessions as f64 * rows) as u64,
            waiting: waiting as u64,
        })
    }
}

/// How many connections of a group that arrive are open at the same time: as processor sharing has it, where the mean is
/// load / (1 - load) and the probability of more falls as load^n, and the excess where the load is above one.
fn arriving(given: &ArrivalSpecification, ideal: &Ideal, end: Time) -> Result<Crowd, String> {
    let (intensity, all) = match &given.process {
        ArrivalProcess::Users { count, think } => {
            let completed = workload::most_of_users(*count, *think, given, &ideal.path)? * end.seconds();
            return Ok(Crowd { open: *count, transfers: completed as u64 + count, waiting: 0 });
        }
        ArrivalProcess::Listed(listed) => (None, listed.len() as f64),
        ArrivalProcess::Poisson(intensity) | ArrivalProcess::Deterministic { every: intensity, .. } => {
            let rate = workload::flows_a_second(*intensity, given, &ideal.path)?;
            (Some(rate), rate * end.seconds() + 100.0)
        }
    };
    let open = match (intensity, workload::load(given, &ideal.path)?) {
        (Some(rate), Some(load)) => {
            let lingering = rate * (LINGERS + 10.0 * ideal.round_trip.seconds());
            let sharing = if load < 1.0 { 20.0 * load / (1.0 - load) } else { all * (1.0 - 1.0 / load) };
            all.min(100.0 + lingering + sharing)
        }
        _ => all,
    };
    Ok(Crowd { open: open as u64, transfers: all as u64, waiting: 0 })
}
