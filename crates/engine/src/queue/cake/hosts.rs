//! How many bulk flows each host has: what divides its share among them.

/// Hosts at one end of the flows.
#[derive(Debug, Default)]
pub struct HostLoads {
    /// By host.
    flows: Vec<u32>,
    /// By number of flows: the hosts that have so many.
    hosts: Vec<u32>,
    /// The least number that a host with any has; 0 if there is none.
    least: u32,
}

impl HostLoads {
    /// So many hosts without flows.
    pub fn new(hosts: usize) -> HostLoads {
        HostLoads { flows: vec![0; hosts], hosts: vec![0; 2], least: 0 }
    }

    /// The bulk flows of a host.
    pub fn of(&self, host: u32) -> u32 {
        self.flows[host as usize]
    }

    /// The least load of the hosts that have any.
    pub fn least(&self) -> u32 {
        self.least
    }

    /// A flow of this host becomes a bulk flow.
    pub fn join(&mut self, host: u32) {
        let before = self.flows[host as usize];
        let now = before + 1;
        self.flows[host as usize] = now;
        if self.hosts.len() <= now as usize {
            self.hosts.resize(2 * now as usize, 0);
        }
        self.hosts[now as usize] += 1;
        if before == 0 {
            self.least = 1;
            return;
        }
        self.hosts[before as usize] -= 1;
        if self.least == before && self.hosts[before as usize] == 0 {
            self.least = now;
        }
    }

    /// A flow of this host is no longer one.
    pub fn leave(&mut self, host: u32) {
        let before = self.flows[host as usize];
        let now = before - 1;
        self.flows[host as usize] = now;
        self.hosts[before as usize] -= 1;
        if now > 0 {
            self.hosts[now as usize] += 1;
            self.least = self.least.min(now);
        } else if self.hosts[1] == 0 {
            let next = self.hosts.iter().position(|hosts| *hosts > 0);
            self.least = next.map_or(0, |flows| flows as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// After any sequence of arrivals and departures, the least load equals the result of a scan over all hosts.
        #[test]
        fn least_load(steps in prop::collection::vec((0u32..5, any::<bool>()), 0..300)) {
            let mut loads = HostLoads::new(5);
            for (host, joins) in steps {
                if joins {
                    loads.join(host);
                } else if loads.of(host) > 0 {
                    loads.leave(host);
                }
                let least = (0..5).map(|host| loads.of(host)).filter(|flows| *flows > 0).min();
                prop_assert_eq!(loads.least(), least.unwrap_or(0));
            }
        }
    }
}
