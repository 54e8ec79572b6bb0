//! The named profiles of scenarios.

use serde_json::Value;

use super::{AlgorithmDefault, ProfileSetting, StackProfile, linux, ns2, ns3};

pub struct NamedProfile {
    /// The name in a scenario.
    pub name: &'static str,
    pub title: &'static str,
    /// All settings, in the order of [`StackProfile`].
    pub settings: Vec<ProfileSetting>,
    /// Defaults that hold for one congestion control only.
    pub defaults: Vec<AlgorithmDefault>,
}

impl StackProfile {
    pub fn named() -> Vec<NamedProfile> {
        let complete = |name, title, changes: Vec<ProfileSetting>, defaults| {
            let mut settings: Vec<ProfileSetting> = StackProfile::describe()
                .into_iter()
                .map(|description| ProfileSetting {
                    name: description.name,
                    value: description.default,
                    source: description.source,
                })
                .collect();
            for change in changes {
                let place = settings.iter_mut().find(|setting| setting.name == change.name);
                *place.expect("a profile changes settings that exist") = change;
            }
            NamedProfile { name, title, settings, defaults }
        };
        vec![
            complete("rfc", "The current standards", Vec::new(), Vec::new()),
            complete("linux-6", "Linux 6.x with its default sysctls", linux::release_6(), linux::defaults_of_6()),
            complete(
                "datacenter",
                "Linux 6.x as it is set in data centres: ECN and timers for round trips of less than a millisecond",
                linux::in_data_centre(),
                linux::defaults_of_6(),
            ),
            complete("ns2-2.35", "ns-2 release 2.35's defaults", ns2::release_2_35(), ns2::defaults_of_2_35()),
            complete(
                "ns3-3.30",
                "ns-3 release 3.30's defaults, with 1500-byte packets",
                ns3::release_3_30(),
                ns3::defaults_of_3_30(),
            ),
            complete(
                "ns3-3.48",
                "ns-3 release 3.48's defaults, with 1500-byte packets",
                ns3::release_3_48(),
                ns3::defaults_of_3_48(),
            ),
        ]
    }

    pub fn of_name(name: &str) -> Option<StackProfile> {
        let profile = StackProfile::named().into_iter().find(|profile| profile.name == name)?;
        let settings: serde_json::Map<String, Value> =
            profile.settings.into_iter().map(|setting| (setting.name.to_owned(), setting.value)).collect();
        serde_json::from_value(Value::Object(settings)).ok()
    }
}
