//! Sessions end, whatever they do and whatever the network does to them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{MS, Path, S, droptail, profiled};

fn writes() -> impl Strategy<Value = Value> {
    let write = (any::<bool>(), 0..2 * S, 1u64..60_000)
        .prop_map(|(at_server, wait, bytes)| json!({"at_server": at_server, "wait": wait, "bytes": bytes}));
    (any::<bool>(), prop::collection::vec(write, 1..8)).prop_map(
        |(concurrent, writes)| json!({"vectors": {"vectors": [{"concurrent": concurrent, "writes": writes}]}}),
    )
}

fn applications() -> impl Strategy<Value = Value> {
    let sizes = || (1.0f64..60_000.0).prop_map(|mean| json!({"exponential": {"mean": mean}}));
    let frames = prop::option::of(1_000u64..40_000);
    let page = (sizes(), sizes(), 0u64..20, 1u64..8, any::<bool>(), frames).prop_map(
        |(first, size, objects, connections, multiplexed, frame)| {
            let objects = if objects == 0 { Value::Null } else { json!({"fixed": objects}) };
            json!({"page": {
                "request": {"fixed": 350}, "first": first, "objects": objects, "size": size, "connections": connections,
                "multiplexed": multiplexed, "frame": frame.filter(|_| multiplexed),
            }})
        },
    );
    let exchanges = (sizes(), sizes(), 1u64..10, 0..3 * S).prop_map(|(request, response, count, think)| {
        json!({"exchanges": {"request": request, "response": response, "count": count, "think": think}})
    });
    prop_oneof![writes(), page, exchanges]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Every session ends within an hour though every n-th packet is lost, every packet is accounted for, and the same seed gives the
    /// same rows.
    #[test]
    fn sessions_end(
        application in applications(), loss in 8u64..100, limit in 4u64..40, seed in 0u64..1000,
        stack in prop::sample::select(vec![("rfc", "newreno"), ("linux-6", "cubic"), ("linux-6", "bbr"), ("ns2-2.35", "reno")]),
    ) {
        let profiled = profiled(stack.0, stack.1);
        let path = Path {
            queue: droptail(limit),
            drop: json!({"every": loss}),
            flows: vec![json!({
                "count": 2, "from": 0, "to": 3, "group": "sessions", "start": 0, "start_within": S, "size": null, "stop": null,
                "application": application,
                "source": {"name": stack.1, "parameters": profiled.parameters, "slow_start": profiled.slow_start, "stack": 0},
            })],
            duration: 3600 * S,
            warm_up: 0,
            stack: profiled.stack,
            seed,
            ..Path::new(5_000_000, 30 * MS)
        };
        path.run_with_census("a session");
        let (result, again) = (path.run(), path.run());
        for flow in &result.flows {
            prop_assert_eq!(flow.transfers.map(|counts| (counts.completed, counts.unfinished)), Some((1, 0)));
        }
        prop_assert_eq!(result.transfers, again.transfers);
    }
}
