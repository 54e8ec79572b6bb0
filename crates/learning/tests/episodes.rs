//! What an environment does to a run: nothing but what the same actions do without one.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sojourn_engine::failure::Failure;
use sojourn_engine::plugin::{Plugins, Unloaded};
use sojourn_engine::probe::Whose;
use sojourn_engine::queue::PluginQueue;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::tcp::congestion::{Algorithm, PluginControl};
use sojourn_engine::time::Time;
use sojourn_learning::agent::{AgentControl, Deciding, Kind, Makes};
use sojourn_learning::environment::Outcome;
use sojourn_learning::observer::TERMS;
use sojourn_learning::{AgentSpecification, Agents, Decider, Environment};

/// Picoseconds in a millisecond.
const MS: u64 = 1_000_000_000;

/// Two flows of an agent and one of CUBIC at a bottleneck of 20 Mbit/s with an RTT of 32 ms.
fn three_flows(agent: Value) -> Value {
    let mut run: Value = serde_json::from_str(include_str!("data/three_flows.json")).unwrap();
    run["plugins"] = json!([{"agent": agent}]);
    run["flows"][0]["source"]["plugin"] = json!(0);
    run["flows"][0]["source"]["parameters"] = json!({});
    run
}

fn parsed(run: &Value) -> Specification {
    serde_json::from_value(run.clone()).unwrap()
}

fn agent(interval: &Value, action: &str, over: &Value) -> Value {
    let observe = [
        "send_rate",
        "delivery_rate",
        "latency_ratio",
        "latency_inflation",
        "send_ratio",
        "loss_ratio",
        "rtt_gradient",
        "rtt_mean",
        "rtt_last",
        "srtt",
        "in_flight",
        "acknowledged",
        "cwnd",
        "pacing_rate",
        "rate_sample",
        "in_recovery",
        "since_loss",
        "interval",
        "retransmit_ratio",
    ];
    json!({
        "interval": interval, "observe": observe, "history": 2, "action": {"name": action, "parameters": {}},
        "reward": {"name": "pcc", "parameters": {}}, "over": over, "decider": "environment",
    })
}

/// The result of a run, to the last digit.
fn outcome(run: &Value) -> String {
    let specification = parsed(run);
    let others = Unloaded::new(0);
    let agents = Agents::new(&specification, &others, None).unwrap();
    let simulation = Simulation::with_plugins(&specification, &agents).unwrap();
    format!("{:?}", simulation.run(&AtomicBool::new(false)).unwrap())
}

/// Actions that look random, and are the same each time.
fn wild(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 40) as f64 / f64::from(1 << 24)) * 1.2 - 0.6
}

/// An episode: its result, the actions of each flow, and what each flow saw at each question.
type Episode = (String, Vec<Vec<f64>>, Vec<Vec<Vec<f32>>>);

fn episode(run: &Value, act: impl FnMut() -> f64) -> Episode {
    episode_of(run, 38, act)
}

/// The same of an agent that sees so many numbers.
fn episode_of(run: &Value, width: usize, mut act: impl FnMut() -> f64) -> Episode {
    let specification = parsed(run);
    let mut environment = Environment::new(&specification, 1).unwrap();
    let count = environment.flows().len();
    let (mut observations, mut terms) = (vec![0.0; count * width], vec![0.0; count * TERMS.len()]);
    let (mut rewards, mut terminated, mut truncated) = (vec![0.0; count], vec![0; count], vec![0; count]);
    let mut seen = vec![Vec::new(); count];
    let mut asked = 0;
    while !environment.is_over() {
        environment.tell(&mut Outcome {
            observations: &mut observations,
            rewards: &mut rewards,
            terms: &mut terms,
            terminated: &mut terminated,
            truncated: &mut truncated,
        });
        let actions: Vec<f64> = (0..count).map(|_| act()).collect();
        environment.step(&actions).unwrap();
        for (flow, ..) in &environment.actions()[asked..] {
            let place = environment.flows().iter().position(|each| each == flow).unwrap();
            seen[place].push(observations[place * width..][..width].to_vec());
        }
        asked = environment.actions().len();
    }
    let mut script = vec![Vec::new(); count];
    for (flow, _, action) in environment.actions() {
        script[*flow as usize].push(*action);
    }
    (format!("{:?}", environment.finish_run().unwrap()), script, seen)
}

/// Writes down what it sees, and does what a script says.
#[derive(Clone, Debug)]
struct Witness {
    script: Vec<Vec<f64>>,
    seen: Arc<Mutex<Vec<Vec<Vec<f32>>>>>,
    flow: usize,
    next: usize,
}

impl Makes for Witness {
    fn decider(&self, number: u32) -> Box<dyn Decider> {
        Box::new(Witness { flow: number as usize, ..self.clone() })
    }
}

impl Decider for Witness {
    fn decide(&mut self, observation: &[f32]) -> Option<f64> {
        self.seen.lock().unwrap()[self.flow].push(observation.to_vec());
        self.next += 1;
        self.script[self.flow].get(self.next - 1).copied()
    }
}

struct Witnesses(Arc<Kind>, Option<Algorithm>, Witness);

impl Plugins for Witnesses {
    fn control(&self, _plugin: usize, _parameters: &Value) -> Result<Box<dyn PluginControl>, String> {
        Ok(Box::new(AgentControl::new(self.0.clone(), self.1.clone(), Deciding::Alone(Arc::new(self.2.clone())))))
    }

    fn queue(&self, _plugin: usize, _parameters: &Value) -> Result<Box<dyn PluginQueue>, String> {
        unreachable!("there is none")
    }

    fn failure(&self) -> Failure {
        Failure::default()
    }
}

fn cases() -> Vec<(Value, &'static str, Value)> {
    let (cubic, bbr) = (json!({"name": "cubic", "parameters": {}}), json!({"name": "bbr", "parameters": {}}));
    vec![
        (json!({"time": 30 * MS}), "window_factor", Value::Null),
        (json!({"time": MS}), "window_delta", Value::Null),
        (json!({"round_trips": 1.0}), "window_factor", Value::Null),
        (json!({"round_trips": 0.05}), "window_factor", json!(null)),
        (json!({"round_trips": 1.0}), "rate_factor", Value::Null),
        (json!({"acknowledgements": 10}), "window_factor", Value::Null),
        (json!({"acknowledgements": 1}), "rate_delta", Value::Null),
        (json!({"round_trips": 1.0}), "window_factor", cubic.clone()),
        (json!({"acknowledgements": 7}), "window_factor", cubic),
        (json!({"time": 20 * MS}), "rate_factor", bbr),
    ]
}

/// An episode through the environment and the run that carries out its actions give the same result to the last digit, with the
/// same observations at the same questions, for each kind of interval.
#[test]
fn an_episode_is_a_scripted_run() {
    for (interval, action, over) in cases() {
        let mut run = three_flows(agent(&interval, action, &over));
        run["probe"]["flow_state"] = json!(true);
        let mut state = 7;
        let (result, script, seen) = episode(&run, || wild(&mut state));
        let questions = script.iter().map(Vec::len).sum::<usize>();
        assert!(questions > 40, "{interval} {action}: {questions} questions");

        let specification: AgentSpecification = serde_json::from_value(run["plugins"][0]["agent"].clone()).unwrap();
        let leader = specification.over.as_ref().map(|over| Algorithm::new(&over.name, &over.parameters).unwrap());
        let witness =
            Witness { script: script.clone(), seen: Arc::new(Mutex::new(vec![Vec::new(); 2])), flow: 0, next: 0 };
        let kind = Arc::new(Kind::of(&specification).unwrap());
        let simulation = Simulation::with_plugins(&parsed(&run), &Witnesses(kind, leader, witness.clone())).unwrap();
        assert_eq!(
            format!("{:?}", simulation.run(&AtomicBool::new(false)).unwrap()),
            result,
            "{interval} {action} {over}"
        );
        let alone = witness.seen.lock().unwrap();
        for (flow, (alone, seen)) in alone.iter().zip(&seen).enumerate() {
            // What falls due after the flow's last hook is asked by the environment alone.
            assert!(alone.len() <= seen.len() && alone.len() + 40 >= seen.len(), "{} {}", alone.len(), seen.len());
            for (question, (alone, seen)) in alone.iter().zip(seen).enumerate() {
                assert_eq!(alone, seen, "{interval} {action} {over}: question {question} of flow {flow}");
            }
        }

        run["plugins"][0]["agent"]["decider"] = json!({"script": script});
        assert_eq!(outcome(&run), result, "{interval} {action} {over}");
    }
}

/// An interval of ten acknowledgements has ten, and is as long as they took, also where more of them arrive before its question falls
/// due: at 10 Gbit/s two segments take 2.4 µs.
#[test]
fn intervals_of_acknowledgements() {
    let mut asking = agent(&json!({"acknowledgements": 10}), "window_factor", &Value::Null);
    (asking["observe"], asking["history"]) = (json!(["acknowledged", "interval", "in_recovery"]), json!(1));
    let mut run = three_flows(asking);
    for link in run["links"].as_array_mut().unwrap() {
        link["rate"] = json!(10_000_000_000u64);
    }
    (run["duration"], run["warm_up"]) = (json!(1000 * MS), json!(0));
    let (_, _, seen) = episode_of(&run, 3, || 0.4);
    let steady: Vec<_> = seen[0].iter().skip(20).filter(|row| row[2] == 0.0).collect();
    assert!(steady.len() > 500, "{}", steady.len());
    // The scale of `acknowledged` is 100 segments, that of `interval` 0.1 s. A receiver acknowledges every second segment.
    assert!(steady.iter().all(|row| row[0] <= 0.2), "{steady:?}");
    let on_grid = |row: &&&Vec<f32>| (f64::from(row[1]) * 1e4).fract() < 1e-3;
    assert!(steady.iter().filter(on_grid).count() < steady.len() / 10);
}

/// The same episode twice is the same to the last digit.
#[test]
fn an_episode_can_be_repeated() {
    let run = three_flows(agent(&json!({"round_trips": 1.0}), "window_factor", &Value::Null));
    let (mut first, mut second) = (3, 3);
    assert_eq!(episode(&run, || wild(&mut first)), episode(&run, || wild(&mut second)));
}

/// An agent over a built-in congestion control that changes nothing is that congestion control, whichever it is. So is one that
/// could change the rate of a control that paces.
#[test]
fn neutral_actions_change_nothing() {
    let windows = ["cubic", "bbr", "bbr3", "newreno", "vegas", "illinois", "dctcp", "westwood"];
    let all =
        windows.map(|name| (name, "window_factor")).into_iter().chain([("bbr", "rate_factor"), ("bbr3", "rate_delta")]);
    for (name, action) in all {
        let over = json!({"name": name, "parameters": {}});
        let run = three_flows(agent(&json!({"round_trips": 1.0}), action, &over));
        let (result, script, _) = episode(&run, || 0.0);
        assert!(script[0].len() > 50);
        let mut built_in = run.clone();
        built_in["plugins"] = json!([]);
        built_in["flows"][0]["source"]["name"] = json!(name);
        built_in["flows"][0]["source"].as_object_mut().unwrap().remove("plugin");
        assert_eq!(outcome(&built_in), result, "{name}, {action}");
    }
}

/// Actions change the run: the test above would not notice an agent that does nothing.
#[test]
fn actions_take_effect() {
    for (interval, action, over) in cases() {
        let run = three_flows(agent(&interval, action, &over));
        let mut state = 11;
        assert_ne!(episode(&run, || 0.0).0, episode(&run, || wild(&mut state)).0, "{interval} {action} {over}");
    }
}

/// A result without the number of the simulator's events: a discipline that is asked packet by packet takes more.
fn without_events(result: &str) -> String {
    let (before, rest) = result.split_once(" events: ").unwrap();
    format!("{before}{}", rest.split_once(',').unwrap().1)
}

/// A queue of an agent: an episode is a scripted run, its actions take effect, and the probability 0 is DropTail.
#[test]
fn a_queue_decides() {
    let agent = json!({
        "interval": {"time": 15 * MS}, "observe": ["queue_delay", "sojourn_mean", "arrival_rate", "departure_rate", "drop_ratio"],
        "history": 2, "action": {"name": "probability", "parameters": {}}, "reward": {"name": "aqm", "parameters": {}},
        "over": null, "decider": "environment",
    });
    let mut run: Value = serde_json::from_str(include_str!("data/three_flows.json")).unwrap();
    let drop_tail = outcome(&run);
    run["plugins"] = json!([{"agent": agent}]);
    run["links"][0]["queue"]["plugin"] = json!(0);
    let idle = episode_of(&run, 10, || 0.0);
    assert_eq!(without_events(&idle.0), without_events(&drop_tail));
    assert!(idle.2[0].iter().any(|seen| seen[9] > 0.0), "it sees what the full buffer drops");
    run["probe"]["queue_state"] = json!(true);
    let mut state = 5;
    let (result, script, seen) = episode_of(&run, 10, || (wild(&mut state) + 0.6) / 20.0);
    assert_ne!(result, drop_tail);
    assert!(script[0].len() == 399 && seen[0].iter().any(|seen| seen[9] > 0.0), "{}", script[0].len());
    run["plugins"][0]["agent"]["decider"] = json!({"script": script});
    assert!(outcome(&run) == result);
}

/// The values that the first of some plugins told of itself, each time that it was asked.
fn told(run: &Value, whose: Whose) -> Vec<BTreeMap<String, f64>> {
    let specification = parsed(run);
    let others = Unloaded::new(0);
    let agents = Agents::new(&specification, &others, None).unwrap();
    let result = Simulation::with_plugins(&specification, &agents).unwrap().run(&AtomicBool::new(false)).unwrap();
    let mut found: BTreeMap<Time, BTreeMap<String, f64>> = BTreeMap::new();
    for sample in result.series.states.samples.iter().filter(|sample| sample.whose == whose) {
        found.entry(sample.time).or_default().insert(sample.name.to_string(), sample.value);
    }
    found.into_values().collect()
}

/// What a flow's agent tells of itself is what it did: the latest action, the window or the rate that this set, and what its interval
/// was worth.
#[test]
fn a_flow_tells_its_state() {
    let script = [[10.0, 20.0, 40.0], [5e6, 7e6, 9e6]];
    for (action, value, factor) in [("window", "set_window", 1448.0), ("rate", "set_rate", 1.0)] {
        let actions = &script[usize::from(action == "rate")];
        let mut run = three_flows(agent(&json!({"time": 500 * MS}), action, &Value::Null));
        run["plugins"][0]["agent"]["decider"] = json!({"script": [actions]});
        run["plugins"][0]["agent"]["reward"] = json!({"name": "vivace", "parameters": {"b": 0, "c": 0, "t": 1}});
        run["probe"]["flow_state"] = json!(true);
        let told = told(&run, Whose::Flow(0));
        // Samples are 50 ms apart; the first question falls due at 500 ms.
        assert_eq!(told[8], BTreeMap::from([("questions".to_owned(), 0.0)]));
        for (question, given) in actions.iter().enumerate() {
            let then = &told[10 * question + 15];
            assert_eq!(then["questions"], question as f64 + 1.0);
            assert_eq!((then["action"], then[value]), (*given, given * factor), "{action}");
        }
        assert_eq!(told.last().unwrap()["action"], actions[2]);
        // The parameters leave the sending rate in Mbit/s of the reward. That of the second question is of the first action.
        if action == "rate" {
            assert!((told[28]["reward"] - 5.0).abs() < 0.25, "{}", told[28]["reward"]);
        }
    }
}

/// So does a queue's, and a reward that is over all agents is not told.
#[test]
fn a_queue_tells_its_state() {
    let agent = json!({
        "interval": {"time": 100 * MS}, "observe": ["queue_delay"], "history": 1, "action": {"name": "probability", "parameters": {}},
        "reward": {"name": "aqm", "parameters": {"b": 0, "c": 0}}, "over": null, "decider": {"script": [[0.0, 0.02]]},
    });
    let mut run: Value = serde_json::from_str(include_str!("data/three_flows.json")).unwrap();
    run["plugins"] = json!([{"agent": agent}]);
    run["links"][0]["queue"]["plugin"] = json!(0);
    run["probe"]["queue_state"] = json!(true);
    let told = told(&run, Whose::Link(0));
    let late = &told[60];
    assert_eq!((told[10]["action"], told[10]["set_probability"]), (0.02, 0.02));
    assert!((29.0..=31.0).contains(&late["questions"]), "{}", late["questions"]);
    // Without sojourn time and loss it is the link's utilisation. By the response function of Mathis et al. (1997) three flows with an RTT
    // of 48 ms make 6.2 of 20 Mbit/s of it, and CUBIC is at least as fast.
    assert!(late["reward"] > 0.2 && late["reward"] < 0.62, "{}", late["reward"]);

    let mut run = three_flows(self::agent(&json!({"time": 100 * MS}), "window_factor", &Value::Null));
    run["probe"]["flow_state"] = json!(true);
    run["plugins"][0]["agent"]["decider"] = json!({"script": [[0.1, 0.2]]});
    run["plugins"][0]["agent"]["reward"]["name"] = json!("astraea");
    assert!(self::told(&run, Whose::Flow(0)).iter().all(|told| !told.contains_key("reward")));
}

/// An environment that holds too many packets ends with one line, as a run does. Of many environments each holds its share of the most.
#[test]
fn too_many_packets() {
    let cubic = json!({"name": "cubic", "parameters": {}});
    let mut run = three_flows(agent(&json!({"round_trips": 1.0}), "window_factor", &cubic));
    run["links"][0]["rate"] = json!(500_000_000);
    let specification = parsed(&run);
    assert!(Environment::new(&specification, 64).unwrap().finish_run().is_ok());
    let wrong = Environment::new(&specification, usize::MAX).unwrap().finish_run().unwrap_err();
    assert!(
        wrong.contains(" packets were queued and under way after ") && wrong.ends_with(" s; an environment may hold 0"),
        "{wrong}"
    );
}

/// A run whose agent waits for an environment does not start without one, and says why in one line.
#[test]
fn nobody_decides() {
    let run = three_flows(agent(&json!({"time": MS}), "window", &Value::Null));
    let others = Unloaded::new(0);
    let refused = Agents::new(&parsed(&run), &others, None).err().unwrap();
    assert!(refused.starts_with("agent = true: ") && !refused.contains('\n'), "{refused}");
}
