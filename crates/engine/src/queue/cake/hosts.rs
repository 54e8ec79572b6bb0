//! The number of bulk flows per host, by which the share of a host is divided.

/// The hosts at one end of the flows.
#[derive(Debug, Default)]
pub struct HostLoads {
    /// The number of bulk flows of each host.
    flows: Vec<u32>,
    /// The number of hosts with a given number of bulk flows.
    hosts: Vec<u32>,
    /// The lowest number of bulk flows of any host with at least one, 0 if there is none.
    least: u32,
}

impl HostLoads {
    pub fn new(hosts: usize) -> HostLoads {
        HostLoads { flows: vec![0; hosts], hosts: vec![0; 2], least: 0 }
    }

    pub fn of(&self, host: u32) -> u32 {
        self.flows[host as usize]
    }

    pub fn least(&self) -> u32 {
        self.least
    }

    /// Adds a bulk flow to a host.
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

    /// Removes a bulk flow from a host.
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
