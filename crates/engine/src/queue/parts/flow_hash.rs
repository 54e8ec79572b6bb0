//! The hash that maps flows to buckets, as in a router with per-flow state.

use crate::packet::{Packet, flags};
use crate::random::Random;

/// A hash with a random salt, so that the flows that share a bucket differ from run to run (RFC 8290 section 4.1.1).
#[derive(Clone, Debug, Default)]
pub struct FlowHash {
    /// Drawn on first use.
    salt: Option<u64>,
}

impl FlowHash {
    /// The identity of a packet's flow. The two directions of a connection are different flows, since their addresses
    /// and ports are swapped.
    pub fn key(packet: &Packet) -> u64 {
        u64::from(packet.flow) << 1 | u64::from(packet.has(flags::ACK))
    }

    /// The bucket of this packet's flow among `buckets`.
    pub fn bucket(&mut self, packet: &Packet, buckets: u64, random: &mut Random) -> u64 {
        self.bucket_of(FlowHash::key(packet), buckets, random)
    }

    pub fn bucket_of(&mut self, key: u64, buckets: u64, random: &mut Random) -> u64 {
        let salt = *self.salt.get_or_insert_with(|| random.bits());
        let hash = mix(key ^ salt);
        ((u128::from(hash) * u128::from(buckets)) >> 64) as u64
    }

    /// Draws a new salt, which changes the flows that share a bucket.
    pub fn perturb(&mut self, random: &mut Random) {
        self.salt = Some(random.bits());
    }
}

/// The finaliser of MurmurHash3 (Appleby 2011, `fmix64`): a change of any bit of the key changes each bit of the hash
/// with probability 1/2.
fn mix(mut key: u64) -> u64 {
    key ^= key >> 33;
    key = key.wrapping_mul(0xff51_afd7_ed55_8ccd);
    key ^= key >> 33;
    key = key.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    key ^ key >> 33
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    fn packet(flow: u32, flags: u8) -> Packet {
        Packet { flow, flags, ..Packet::FULL }
    }

    /// Flows are distributed uniformly over the buckets: the count in each bucket is within five standard deviations of
    /// the binomial distribution.
    #[test]
    fn uniform_spread() {
        let mut random = Random::stream(1, Purpose::Queue, 0);
        for _ in 0..20 {
            let mut hash = FlowHash::default();
            let mut counts = [0u32; 64];
            for flow in 0..64_000 {
                counts[hash.bucket(&packet(flow, flags::DATA), 64, &mut random) as usize] += 1;
            }
            // Five standard deviations of a binomial with n = 64000 and p = 1/64.
            assert!(counts.iter().all(|count| count.abs_diff(1000) < 158), "{counts:?}");
        }
    }

    /// A flow keeps its bucket until the hash is perturbed. The ECN field does not change the bucket. Acknowledgements
    /// hash as a separate flow.
    #[test]
    fn stable_until_perturbed() {
        let mut random = Random::stream(1, Purpose::Queue, 0);
        let mut hash = FlowHash::default();
        let data: Vec<u64> =
            (0..100).map(|flow| hash.bucket(&packet(flow, flags::DATA), 1 << 40, &mut random)).collect();
        for flow in 0..100 {
            let again = hash.bucket(&packet(flow, flags::DATA | flags::ECT_0), 1 << 40, &mut random);
            assert_eq!(again, data[flow as usize], "the ECN field is no part of a flow's name");
            assert!(!data.contains(&hash.bucket(&packet(flow, flags::ACK), 1 << 40, &mut random)));
        }
        hash.perturb(&mut random);
        assert!(
            (0..100).all(|flow| hash.bucket(&packet(flow, flags::DATA), 1 << 40, &mut random) != data[flow as usize])
        );
    }
}
