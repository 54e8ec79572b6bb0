//! BBR as published.

use super::control::Variant;
use crate::tcp::congestion::model::WindowedMaximum;

#[derive(Clone, Debug, Default)]
pub struct Published;

impl Variant for Published {
    type Bandwidth = WindowedMaximum;
}
