//! ns-2's rules of algorithms whose paper says something else, one file each. Written from the behaviour of its sources; the
//! functions named are where it is defined.

pub(super) mod vegas;
