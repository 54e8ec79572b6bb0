//! The members of a library's state that it shows as its inner state.

use std::sync::Arc;

use serde_json::{Value, json};
use sojourn_engine::inner::Tell;

use crate::declared::State;
use crate::interface::{NONE, ShownMember};
use crate::text;

/// The units of kinds by number, where the kind has one: those of a duration, a size and a rate.
const UNITS: [Option<&str>; 7] = [None, None, None, Some(""), Some("s"), Some("B"), Some("bit/s")];

const NUMBER: u32 = 1;
const DURATION: u32 = 4;

/// The members of a list that ends with kind 0.
fn listed(members: *const ShownMember) -> Vec<ShownMember> {
    if members.is_null() {
        return Vec::new();
    }
    // SAFETY: the interface says that the list goes on up to an entry of kind 0.
    (0..).map(|place| unsafe { *members.add(place) }).take_while(|member| member.kind != 0).collect()
}

/// The phases of a member, a list that ends with NULL; none of one that is no number of a phase.
fn phases(member: &ShownMember) -> Option<Vec<String>> {
    if member.phases.is_null() {
        return None;
    }
    // SAFETY: the interface says that the list goes on up to NULL.
    Some((0..).map_while(|place| text(unsafe { *member.phases.add(place) })).collect())
}

/// What is shown, as JSON.
///
/// # Errors
/// One line if a member is of an unknown kind or size, or no part of the state.
pub fn describe(members: *const ShownMember, state_bytes: u64) -> Result<Value, String> {
    let mut described = Vec::new();
    for member in listed(members) {
        let name = text(member.name).unwrap_or_default();
        let Some(unit) = UNITS.get(member.kind as usize) else {
            return Err(format!("value {name}: kind {} is unknown", member.kind));
        };
        if member.bytes != 8 {
            let wanted = if member.kind == NUMBER { "double" } else { "uint64_t" };
            return Err(format!("value {name}: is shown of a {wanted} of 8 bytes, not {}", member.bytes));
        }
        if member.offset + 8 > state_bytes {
            return Err(format!("value {name}: lies outside of the state, which has {state_bytes} bytes"));
        }
        let unit = unit.map_or_else(|| text(member.unit).unwrap_or_default(), str::to_owned);
        let doc = text(member.meaning).unwrap_or_default();
        described.push(json!({"name": name, "unit": unit, "doc": doc, "phases": phases(&member)}));
    }
    Ok(described.into())
}

/// The members that are shown, with their names.
#[derive(Clone, Debug, Default)]
pub struct ShownMembers(Arc<[(String, u32, usize)]>);

impl ShownMembers {
    /// Those of a list that describes well.
    pub fn new(members: *const ShownMember) -> ShownMembers {
        let member = |member: ShownMember| (text(member.name).unwrap_or_default(), member.kind, member.offset as usize);
        ShownMembers(listed(members).into_iter().map(member).collect())
    }

    /// Tells what the state has. A member that is none is not told: a bound that there is not, say.
    pub fn tell(&self, state: &State, tell: &mut Tell<'_>) {
        for (name, kind, offset) in self.0.iter() {
            // SAFETY: the member lies within the state, and no hook is running.
            let bits = unsafe { state.pointer().cast::<u8>().add(*offset).cast::<u64>().read_unaligned() };
            match *kind {
                _ if bits == NONE => {}
                NUMBER => tell(name, f64::from_bits(bits)),
                DURATION => tell(name, bits as f64 / 1e12),
                _ => tell(name, bits as f64),
            }
        }
    }
}
