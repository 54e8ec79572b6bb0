//! Properties of every discipline in the catalogue: conservation, limits, order within a flow, marks only on
//! ECN-capable packets, and the same fates for the same seed.

mod properties;
mod run;
