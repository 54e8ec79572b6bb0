//! ns-3's rules of algorithms whose RFC or paper says something else, one file each. Written from the behaviour of its
//! sources; the functions named are where it is defined.

pub(super) mod cubic;
