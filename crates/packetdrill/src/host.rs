//! What shell lines and command-line options of scripts set: the sysctls of a host, as far as an endpoint has them.

use std::collections::BTreeMap;

use sojourn_engine::time::Duration;

use crate::script::{Action, Script, TcpOption};

/// A feature of a host that a script needs and an endpoint lacks, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing(pub String);

/// How the application wants small writes to be treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coalescing {
    /// `TCP_NODELAY`: small segments do not wait for acknowledgements.
    pub no_delay: bool,
    /// `TCP_CORK`: only full segments leave.
    pub corked: bool,
}

/// The settings of the host under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// `net.ipv4.tcp_*` without that prefix.
    sysctls: BTreeMap<String, String>,
    /// How much later or earlier than written something may happen, in microseconds.
    pub tolerance: u64,
    /// Whether segments leave as large ones, which the card would cut.
    pub segmentation_offload: bool,
    /// Whether the queue at the device paces (`fq`).
    pub paces: bool,
    /// Payload of the segments that the script's end accepts in full, if the script fixes it.
    pub mss: Option<u64>,
    /// Payload of the segments that arrive as one, if the script fixes it.
    pub mss_of_arrivals: Option<u64>,
    /// The scale of the window, as far as nothing but the host's memory decides it.
    pub window_scale: u8,
    /// `SO_RCVBUF` as Linux keeps it, twice what was asked for.
    pub receive_buffer: Option<u64>,
    /// How sockets treat small writes.
    pub coalescing: Coalescing,
}

/// packetdrill's default tolerance: config.c, `set_default_config`.
const TOLERANCE: u64 = 4_000;

/// The sysctls that change what the endpoint does, with Linux's defaults (Documentation/networking/ip-sysctl.rst).
const SYSCTLS: [(&str, &str); 13] = [
    ("congestion_control", "cubic"),
    ("dsack", "1"),
    ("ecn", "2"),
    ("ecn_fallback", "1"),
    ("ecn_option", "2"),
    ("ecn_option_beacon", "3"),
    ("min_tso_segs", "2"),
    ("rto_max_ms", "120000"),
    ("sack", "1"),
    ("syn_linear_timeouts", "4"),
    ("syn_retries", "6"),
    ("timestamps", "1"),
    ("window_scaling", "1"),
];

/// Sysctls that would change it, and the values with which they do not. Any other sysctl of TCP has no effect on an endpoint.
/// `early_retrans` 0 turns loss probes off. They are not turned off here: a script in which one would be sent fails at it.
const FIXED: [(&str, &[&str]); 4] =
    [("early_retrans", &["0", "3", "4"]), ("frto", &["1", "2"]), ("recovery", &["1"]), ("reordering", &["3"])];

/// The scale of the window with the receive buffer of a machine with little memory, and with the one that `defaults.sh` sets.
const DEFAULT_SCALE: u8 = 7;
const SCALE_OF_COLLECTIONS: u8 = 8;

/// The largest window without a scale.
const LARGEST_WINDOW: u64 = 65_535;

/// What the script `defaults.sh` of google's and the kernel's collections sets otherwise.
const DEFAULTS_OF_COLLECTIONS: [(&str, &str); 2] = [("ecn", "0"), ("syn_retries", "5")];

/// Commands that measure, name or clean up, and change nothing in an endpoint.
const WITHOUT_EFFECT: [&str; 8] = ["ip tcp_metrics", "nstat", "true", "sleep", "modprobe", "grep", "/bin/rm", "ss "];

impl Default for Host {
    fn default() -> Host {
        let sysctls = SYSCTLS.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Host {
            sysctls: sysctls.into(),
            tolerance: TOLERANCE,
            segmentation_offload: true,
            paces: false,
            mss: None,
            mss_of_arrivals: None,
            window_scale: DEFAULT_SCALE,
            receive_buffer: None,
            coalescing: Coalescing::default(),
        }
    }
}

impl Host {
    /// The host that a script asks for before its first event.
    ///
    /// # Errors
    ///
    /// The first thing it asks for that an endpoint does not have.
    pub fn of(script: &Script) -> Result<Host, Missing> {
        let mut host = Host::default();
        if let Some(scale) = scale_in(script) {
            host.window_scale = scale;
        }
        for (name, value) in &script.options {
            host.set_option(name, value.as_deref())?;
        }
        if let Some(lines) = &script.preparation {
            host.run(lines)?;
        }
        Ok(host)
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) -> Result<(), Missing> {
        let number = value.and_then(|value| value.split_whitespace().next()?.parse().ok());
        match name {
            "tolerance_usecs" => self.tolerance = number.unwrap_or(TOLERANCE),
            "mss" => self.mss_of_arrivals = number,
            "strict_segments" => self.segmentation_offload = false,
            "ip_version" | "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" | "init_scripts" | "mtu"
            | "bind_port" | "connect_port" | "tcp_ts_tick_usecs" | "verbose" | "v" => {}
            _ => return Err(Missing(format!("--{name}"))),
        }
        Ok(())
    }

    pub fn sysctl(&self, name: &str) -> Option<&str> {
        self.sysctls.get(name).map(String::as_str)
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        let text = self.sysctl(name)?;
        text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok())
    }

    pub fn longest_timeout(&self) -> Option<Duration> {
        self.number("rto_max_ms").map(Duration::from_milliseconds)
    }

    /// Carries out shell lines, as far as they change what an endpoint does.
    ///
    /// # Errors
    ///
    /// The first line that means something else.
    pub fn run(&mut self, lines: &str) -> Result<(), Missing> {
        let joined = lines.replace("\\\n", " ");
        let commands = joined.split(['\n', ';']).map(|line| line.split(" #").next().unwrap_or_default().trim());
        commands.filter(|line| !line.is_empty() && !line.starts_with('#')).try_for_each(|line| self.carry_out(line))
    }

    fn carry_out(&mut self, line: &str) -> Result<(), Missing> {
        let program = line.split_whitespace().next().unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or(program);
        if name == "defaults.sh" {
            for (name, value) in DEFAULTS_OF_COLLECTIONS {
                self.sysctls.insert(name.to_owned(), value.to_owned());
            }
            self.window_scale = SCALE_OF_COLLECTIONS;
            return Ok(());
        }
        if name == "sysctl" || name == "set_sysctls.py" {
            return self.set_sysctls(line);
        }
        if name.starts_with("sysctl_restore") || WITHOUT_EFFECT.iter().any(|command| line.starts_with(command)) {
            return Ok(());
        }
        if name == "ethtool" && line.contains("tso off") {
            self.segmentation_offload = false;
            return Ok(());
        }
        // The queue that hands over at once, as packetdrill's device has it.
        if line.starts_with("tc qdisc") && line.contains("pfifo") && !line.contains("limit 0") {
            return Ok(());
        }
        if line.starts_with("tc qdisc") && line.ends_with("root fq") {
            self.paces = true;
            return Ok(());
        }
        // The default of tcp_cubic.c: both detections.
        if line == "echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect" {
            return Ok(());
        }
        Err(Missing(format!("`{line}`")))
    }

    fn set_sysctls(&mut self, line: &str) -> Result<(), Missing> {
        for (name, value) in assignments(line) {
            let name = name.trim_start_matches("/proc/sys/").replace('/', ".");
            let Some(name) = name.strip_prefix("net.ipv4.tcp_") else { return Err(Missing(name)) };
            if FIXED.iter().any(|(fixed, values)| *fixed == name && !values.contains(&value.as_str())) {
                return Err(Missing(format!("net.ipv4.tcp_{name}={value}")));
            }
            if name == "rmem" {
                let most = value.rsplit(char::is_whitespace).next().and_then(product);
                self.window_scale = scale_of(most.ok_or_else(|| Missing(format!("net.ipv4.tcp_rmem={value}")))?);
            }
            if self.sysctls.contains_key(name) {
                self.sysctls.insert(name.to_owned(), value);
            }
        }
        Ok(())
    }
}

/// The scale that the script expects of the tested end, whose machine's memory it does not tell otherwise.
fn scale_in(script: &Script) -> Option<u8> {
    let segments = script.events.iter().filter_map(|event| match &event.action {
        Action::Expect(segment) => segment.options.as_ref(),
        _ => None,
    });
    segments.flatten().find_map(|option| match option {
        TcpOption::WindowScale(scale) => Some(*scale),
        _ => None,
    })
}

/// The least scale with which a buffer fits into a window (Linux tcp_output.c, tcp_select_initial_window).
pub fn scale_of(buffer: u64) -> u8 {
    (0..15).find(|scale| buffer >> scale <= LARGEST_WINDOW).unwrap_or(14)
}

/// A number, or the shell's `$((A*B))`.
fn product(text: &str) -> Option<u64> {
    let text = text.trim_start_matches("$((").trim_end_matches("))");
    text.split('*').map(|factor| factor.trim_matches(['(', ')']).parse::<u64>().ok()).product()
}

/// The assignments of a command line, whose values may be quoted.
fn assignments(line: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(equals) = rest.find('=') {
        let name = rest[..equals].rsplit(char::is_whitespace).next().unwrap_or_default();
        let after = &rest[equals + 1..];
        let (value, tail) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        found.push((name.to_owned(), value.to_owned()));
        rest = tail;
    }
    found
}
