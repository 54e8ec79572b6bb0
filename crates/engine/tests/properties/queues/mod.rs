//! What holds for every discipline of the catalogue: conservation, limits, order within a flow, marks only where they may be, and
//! the same fates for the same seed.

mod fuzz;
mod properties;
mod run;
