//! packetdrill: a language of scripts that hold a TCP to its packets and system calls, one end of a connection against the script.
//!
//! The language is google/packetdrill's (Cardwell et al., packetdrill: Scriptable Network Stack Testing, from Sockets to Packets,
//! USENIX ATC 2013).

pub mod code;
pub mod endpoint;
pub mod host;
pub mod run;
pub mod script;
