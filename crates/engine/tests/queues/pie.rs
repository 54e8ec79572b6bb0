//! PIE: RFC 8033 and results of ns-3's tests.

use serde_json::{Value, json};
use sojourn_engine::packet::flags;
use sojourn_engine::queue::{DropCause, Limit, Pie, PieParameters, QueueDiscipline, QueueRules};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::time::{Duration, Time};

use super::bench::{
    Bench, Event, TRANSMISSION, UNLIMITED, constant, count, data, drive, milliseconds, number, packet, rows, seconds,
    vector,
};

/// PIE's controller (RFC 8033 section 4.2) on the worked rows. The RFC has no rule for high delays: its last row agrees
/// with Linux's rule for 250 ms. Without that rule the step is the cap of two points.
#[test]
fn worked_updates() {
    let data = data();
    let worked = rows(&data["rfc8033-pie"]["worked"]);
    let next = |parameters: &PieParameters, row: &Value| {
        parameters.next_probability(number(&row["p"]), seconds(&row["qdelay_s"]), seconds(&row["qdelay_old_s"]))
    };
    let with_high_delay = PieParameters { high_delay: Duration::from_milliseconds(250), ..PieParameters::default() };
    for row in worked {
        let (got, published) = (next(&with_high_delay, row), number(&row["p_next"]));
        assert!((got / published - 1.0).abs() < 1e-7, "{row}: {got}");
    }
    let rfc = PieParameters::default();
    let (high, others) = worked.split_last().unwrap();
    for row in others {
        assert_eq!(next(&rfc, row), next(&with_high_delay, row), "{row}");
    }
    assert!((next(&rfc, high) - 0.22).abs() < 1e-12);
    // Only two delays of zero cause a decay.
    let five = Duration::from_milliseconds(5);
    let emptied = 0.5 - 0.125 * 0.015 - 1.25 * 0.005;
    assert!((rfc.next_probability(0.5, Duration::ZERO, five) - emptied).abs() < 1e-12);
    let filled = 0.5 - 0.125 * 0.010 + 1.25 * 0.005;
    assert!((rfc.next_probability(0.5, five, Duration::ZERO) - filled).abs() < 1e-12);
}

/// Every step of the tables of gains, just below and at its bound. The probability stays within [0, 1].
#[test]
fn gain_scaling() {
    let data = data();
    let (delay, before) = (Duration::from_milliseconds(16), Duration::from_microseconds(15_900));
    let unscaled = 0.125 * 0.001 + 1.25 * 0.0001;
    for (table, scaling) in [("rfc8033-pie", "rfc8033"), ("hpsr2013-pie", "hpsr2013"), ("ns3-pie", "ns3")] {
        let parameters: PieParameters = serde_json::from_value(json!({"scaling": scaling})).unwrap();
        let check = |probability: f64, divisor: f64| {
            let change = parameters.next_probability(probability, delay, before) - probability;
            // Near p = 1 a double resolves 1e-16.
            assert!((change - unscaled / divisor).abs() < 1e-14, "{table} at {probability}: {change}");
        };
        let scale = rows(&data[table]["scale"]);
        check(0.0, number(&scale[0]["div"]));
        for (step, next) in scale.iter().zip(&scale[1..]) {
            let bound = number(&step["p_below"]);
            check(bound * (1.0 - 1e-9), number(&step["div"]));
            check(bound, number(&next["div"]));
        }
    }
    let parameters = PieParameters::default();
    assert_eq!(parameters.next_probability(0.99, Duration::from_seconds(1), Duration::from_seconds(1)), 1.0);
    assert_eq!(parameters.next_probability(1e-3, Duration::ZERO, Duration::from_seconds(1)), 0.0);
}

/// The counters of ns-3's tests of PIE.
#[derive(Default)]
struct PieRun {
    unforced: u64,
    forced: u64,
    marks: u64,
    /// The lowest drop probability of any drop and the highest of any mark.
    least_of_drops: f64,
    greatest_of_marks: f64,
    greatest_probability: f64,
    /// The greatest increase of the drop probability in an update from 10 % or more, `None` without such an update.
    greatest_rise: Option<f64>,
}

/// The scenario of ns-3's tests of PIE: arrivals at one constant spacing and requests of the link at another.
fn pie_run(inputs: &Value, dequeue_every: Duration, ecn_flag: u8, parameters: PieParameters, seed: u64) -> PieRun {
    let packet = packet(inputs["packet_bytes"].as_u64().unwrap() as u16, ecn_flag);
    let spacing = seconds(&inputs["enqueue_every_s"]);
    let arrivals = (1..=count(&inputs["packets"])).map(|index| (Time::ZERO + spacing * index, packet));
    let mut bench = Bench::new(Pie::new(Limit::Packets(count(&inputs["qsize_pkts"])), parameters), seed);
    let mut run = PieRun { least_of_drops: 1.0, ..PieRun::default() };
    let mut before = 0.0;
    drive(&mut bench, dequeue_every, arrivals, Time::ZERO + seconds(&inputs["run_s"]), |_, event, queue| match event {
        Event::Dropped(DropCause::Early) => {
            run.unforced += 1;
            run.least_of_drops = run.least_of_drops.min(queue.drop_probability());
        }
        Event::Marked => {
            run.marks += 1;
            run.greatest_of_marks = run.greatest_of_marks.max(queue.drop_probability());
        }
        Event::Dropped(DropCause::Overflow) => run.forced += 1,
        Event::Timer => {
            let probability = queue.drop_probability();
            run.greatest_probability = run.greatest_probability.max(probability);
            if before >= 0.1 {
                run.greatest_rise = Some(run.greatest_rise.unwrap_or(0.0).max(probability - before));
            }
            before = probability;
        }
        Event::Sent(_) => {}
    });
    run
}

/// The parameters of ns-3's tests of PIE.
fn pie_parameters(inputs: &Value) -> PieParameters {
    PieParameters {
        target: seconds(&inputs["qdelay_ref_s"]),
        update_interval: seconds(&inputs["t_update_s"]),
        maximum_burst: seconds(&inputs["max_burst_s"]),
        ..PieParameters::default()
    }
}

/// Early drops: some by default, fewer with a higher target, more with a slower link, fewer with rarer updates. No
/// overflow.
#[test]
fn published_order_of_drops() {
    let inputs = &vector("pie-ordering-1")["inputs"];
    let drops = |dequeue_every_ms, parameters: &PieParameters| {
        (0..10)
            .map(|seed| {
                let dequeue_every = Duration::from_milliseconds(dequeue_every_ms);
                let run = pie_run(inputs, dequeue_every, 0, parameters.clone(), seed);
                assert_eq!(run.forced, 0);
                run.unforced
            })
            .sum::<u64>()
    };
    let normal = pie_parameters(inputs);
    let high_target = PieParameters { target: Duration::from_milliseconds(80), ..normal.clone() };
    let rare_updates = PieParameters { update_interval: Duration::from_milliseconds(90), ..normal.clone() };
    let (t2, t3) = (drops(12, &normal), drops(12, &high_target));
    let (t4, t5) = (drops(15, &normal), drops(15, &rare_updates));
    assert!(t2 > 0 && t3 < t2 && t4 > t2 && t5 < t4, "{t2} {t3} {t4} {t5}");
}

/// RFC 8033 section 5.1: ECN-capable packets are marked below the threshold and dropped above. Others are only dropped.
#[test]
fn mark_threshold() {
    let row = vector("pie-ecn_threshold-2");
    let inputs = &row["inputs"];
    let dequeue_every = milliseconds(&inputs["dequeue_every_ms"]);
    let threshold = number(&inputs["mark_ecn_th"]);
    let parameters = PieParameters { ecn: true, mark_threshold: threshold, ..pie_parameters(inputs) };
    for seed in 0..10 {
        let incapable = pie_run(inputs, dequeue_every, 0, parameters.clone(), seed);
        assert!(incapable.marks == 0 && incapable.unforced > 0);
        let capable = pie_run(inputs, dequeue_every, flags::ECT_0, parameters.clone(), seed);
        assert!(capable.marks > 0 && capable.unforced > 0 && capable.greatest_probability > threshold);
        assert!(capable.greatest_of_marks < threshold && capable.least_of_drops >= threshold);
        let without = PieParameters { ecn: false, ..parameters.clone() };
        let run = pie_run(inputs, dequeue_every, flags::ECT_0, without, seed);
        assert!(run.marks == 0 && run.unforced > 0);
    }
}

/// RFC 8033 section 5.5: with the cap, from 10 % on an update raises the drop probability by at most two points.
#[test]
fn probability_cap() {
    let row = vector("pie-cap_drop_adjust-3");
    let inputs = &row["inputs"];
    let rise = |cap_adjustment| {
        let parameters = PieParameters { cap_adjustment, ..pie_parameters(inputs) };
        let run = pie_run(inputs, milliseconds(&inputs["dequeue_every_ms"]), 0, parameters, 1);
        run.greatest_rise.expect("a drop probability above 10 %")
    };
    assert!((rise(true) - 0.02).abs() < 1e-12, "capped: {}", rise(true));
    assert!(rise(false) > 0.02, "not capped: {}", rise(false));
}

/// RFC 8033 section 4.4: a burst after an idle time passes for MAX_BURST, though the drop probability rises meanwhile.
#[test]
fn burst_allowance() {
    let overload = |maximum_burst: u64| {
        let parameters =
            PieParameters { maximum_burst: Duration::from_milliseconds(maximum_burst), ..PieParameters::default() };
        let mut bench = Bench::new(Pie::new(UNLIMITED, parameters), 1);
        let start = Time::ZERO + Duration::from_seconds(10);
        let end = start + Duration::from_seconds(1);
        let mut first_drop = None;
        let mut last_idle_update = Time::ZERO;
        let arrivals = constant(start, end, Duration::from_microseconds(100));
        drive(&mut bench, TRANSMISSION, arrivals, end, |now, event, queue| match event {
            Event::Dropped(_) => first_drop = first_drop.or(Some(now)),
            Event::Timer if queue.drop_probability() == 0.0 => last_idle_update = now,
            _ => {}
        });
        // The allowance is at its maximum until the first update that gives a drop probability above zero.
        first_drop.unwrap().since(last_idle_update + Duration::from_milliseconds(15)).seconds()
    };
    // The update that gives a drop probability above zero uses the first 15 ms of the allowance.
    assert!((0.135..0.2).contains(&overload(150)), "{}", overload(150));
    assert!((0.585..0.65).contains(&overload(600)), "{}", overload(600));
}

/// The two estimators on a growing queue: the departure rate gives the time that an arrival will wait (RFC 8033 section
/// 5.2), timestamps give the sojourn time of the last departure (section 4.3).
#[test]
fn delay_estimators() {
    let delays = |estimator: &str| {
        let parameters: PieParameters = serde_json::from_value(json!({"estimator": estimator})).unwrap();
        let mut bench = Bench::new(Pie::new(UNLIMITED, parameters), 1);
        let end = Time::ZERO + Duration::from_milliseconds(140);
        let mut delays = Vec::new();
        let arrivals = constant(Time::ZERO, end, Duration::from_microseconds(600));
        drive(&mut bench, TRANSMISSION, arrivals, end, |_, event, queue| match event {
            Event::Timer => delays.push(queue.delay()),
            Event::Dropped(_) => panic!("a burst is let through"),
            Event::Sent(_) | Event::Marked => {}
        });
        delays
    };
    let departure = delays("departure_rate");
    assert_eq!(departure[0], Duration::ZERO, "nothing measured at 15 ms");
    // At 135 ms, 225 packets have arrived and 113 have left. A measurement has 11 packets, the first number to reach
    // 16384 bytes.
    let expected = (225 - 113) as f64 * 1500.0 * 11.0 * TRANSMISSION.seconds() / 16384.0;
    assert!((departure[8].seconds() - expected).abs() < 1e-9, "{} and {expected}", departure[8].seconds());
    // The packet sent last, at 134.4 ms, arrived at half that time.
    assert_eq!(delays("sojourn")[8], Duration::from_microseconds(67_200));
}

/// RFC 8033 section 5.2: measurements are smoothed with a weight of 1/4, and an empty queue has no delay.
#[test]
fn departure_rate_smoothing() {
    let parameters: PieParameters = serde_json::from_value(json!({"estimator": "departure_rate"})).unwrap();
    let mut bench = Bench::new(Pie::new(UNLIMITED, parameters), 1);
    for _ in 0..49 {
        bench.enqueue(Time::ZERO, packet(1024, 0));
    }
    // The first departure starts a measurement. A measurement has 16 packets of 1024 bytes, first in 16 ms, then in 32
    // ms. This leaves exactly the 16 KiB needed to start another.
    let mut now = Time::ZERO;
    bench.dequeue(now);
    let mut delay_after = |packets, spacing| {
        for _ in 0..packets {
            now += Duration::from_milliseconds(spacing);
            bench.dequeue(now);
        }
        bench.queue.on_timer(now);
        (bench.queue.bytes(), bench.queue.delay())
    };
    assert_eq!(delay_after(16, 1), (32 * 1024, Duration::from_milliseconds(32)));
    // The average becomes 16 * 3/4 + 32 * 1/4 = 20 ms for 16 KiB.
    assert_eq!(delay_after(16, 2), (16 * 1024, Duration::from_milliseconds(20)));
    assert_eq!(delay_after(16, 4), (0, Duration::ZERO));
    // 20 * 3/4 + 64 * 1/4 = 31 ms.
    bench.enqueue(now, packet(1024, 0));
    bench.queue.on_timer(now);
    assert_eq!(bench.queue.delay().seconds(), 0.031 / 16.0);
}

/// With timestamps the delay is the sojourn time of the last departure, and zero once the queue is empty, so that the
/// drop probability of an idle queue decays by 2 % per update (RFC 8033 section 4.2).
#[test]
fn decay_while_idle() {
    let mut bench = Bench::new(Pie::new(UNLIMITED, PieParameters::default()), 1);
    let second = Time::ZERO + Duration::from_seconds(1);
    bench.enqueue(Time::ZERO, packet(1500, 0));
    bench.enqueue(Time::ZERO, packet(1500, 0));
    bench.dequeue(second);
    assert_eq!(bench.queue.delay(), Duration::from_seconds(1));
    for _ in 0..20 {
        bench.queue.on_timer(second);
    }
    assert!(bench.queue.drop_probability() > 0.1);
    bench.dequeue(second);
    assert_eq!(bench.queue.delay(), Duration::ZERO);
    bench.queue.on_timer(second);
    let mut updates = 0;
    while bench.queue.drop_probability() > 0.0 {
        bench.queue.on_timer(second);
        updates += 1;
        assert!(updates < 10_000, "stuck at {}", bench.queue.drop_probability());
    }
}

/// RFC 8033 section 5.4: with derandomisation there is no drop before the probabilities since the last drop sum to
/// 0.85, and one by 8.5 at the latest. Without it there are sums below and above this range. Linux always has it (pie_drop_early).
#[test]
fn derandomisation() {
    let sums = |parameters| {
        let mut bench = Bench::new(Pie::new(UNLIMITED, parameters), 1);
        let end = Time::ZERO + Duration::from_seconds(400);
        let mut sums = Vec::new();
        let mut sum = 0.0;
        // The sum changes with each arrival, so the test drives the queue itself, at 1.2 times the link's rate.
        let (spacing, mut free_at, mut timer) = (Duration::from_microseconds(1000), Time::ZERO, Time::ZERO);
        let mut now = Time::ZERO;
        while now < end {
            while free_at <= now {
                bench.dequeue(free_at);
                free_at += TRANSMISSION;
            }
            if timer <= now {
                bench.queue.on_timer(now);
                timer += Duration::from_milliseconds(15);
            }
            bench.enqueue(now, packet(1500, 0));
            sum += bench.queue.drop_probability();
            if bench.drops(DropCause::Early) > 0 {
                bench.outcome.dropped.clear();
                sums.push(sum);
                sum = 0.0;
            }
            now += spacing;
        }
        // The first sum includes arrivals during the burst allowance.
        sums.remove(0);
        assert!(sums.len() > 10_000, "{} drops", sums.len());
        (sums.iter().copied().fold(f64::MAX, f64::min), sums.iter().copied().fold(0.0, f64::max))
    };
    // A sum can exceed a bound by the drop probability, about 0.17.
    let derandomised = PieParameters { derandomise: true, ..PieParameters::default() };
    for parameters in [derandomised, PieParameters { rules: QueueRules::Linux, ..PieParameters::default() }] {
        let (least, greatest) = sums(parameters);
        assert!((0.85 - 1e-9..1.1).contains(&least), "{least}");
        assert!((8.5 - 1e-9..9.0).contains(&greatest), "{greatest}");
    }
    let (least, greatest) = sums(PieParameters::default());
    assert!(least < 0.85, "{least}");
    assert!(greatest > 8.5, "{greatest}");
}

/// Mean drop probability and delay, in seconds, of PIE under an unresponsive load from 30 s on, over ten seeds.
fn pie_under_load(estimator: &str, rho: f64, poisson: bool) -> (f64, f64) {
    // 200 Mbit/s: on a slow link the target is only a few packets, the safeguards of section 4.1 admit more arrivals,
    // and the drop probability settles above the share dropped: by 5 % at 10 Mbit/s and a load of 1.2, not measurably
    // at 1 Gbit/s.
    let transmission = Duration::from_microseconds(60);
    let mean = Duration::from_seconds_f64(transmission.seconds() / rho);
    let warm_up = Time::ZERO + Duration::from_seconds(30);
    let end = Time::ZERO + Duration::from_seconds(40);
    let (mut probability, mut updates, mut delay, mut sent) = (0.0, 0.0, 0.0, 0.0);
    for seed in 0..5 {
        let parameters: PieParameters = serde_json::from_value(json!({"estimator": estimator})).unwrap();
        let mut bench = Bench::new(Pie::new(UNLIMITED, parameters), seed);
        let mut source = Random::stream(seed, Purpose::Source, 0);
        let spacing = |time: &Time| Some(*time + if poisson { source.exponential(mean) } else { mean });
        let arrivals = std::iter::successors(Some(Time::ZERO), spacing).map(|time| (time, packet(1500, 0)));
        drive(&mut bench, transmission, arrivals, end, |now, event, queue| match event {
            Event::Timer if now >= warm_up => {
                probability += queue.drop_probability();
                updates += 1.0;
            }
            Event::Sent(waited) if now >= warm_up => {
                delay += waited.seconds();
                sent += 1.0;
            }
            _ => {}
        });
    }
    (probability / updates, delay / sent)
}

fn assert_pie_tracks(estimator: &str) {
    let data = data();
    for row in rows(&data["laws"]["pie-track"]["worked"]) {
        let rho = number(&row["rho"]);
        for poisson in [false, true] {
            let (probability, delay) = pie_under_load(estimator, rho, poisson);
            assert!(
                (probability / number(&row["p"]) - 1.0).abs() < 0.05,
                "load {rho}, Poisson {poisson}: p {probability}"
            );
            assert!((delay / 0.015 - 1.0).abs() < 0.3, "load {rho}, Poisson {poisson}: delay {delay} s");
        }
    }
}

/// Law pie-track: under unresponsive overload the drop probability tends to the share that must be dropped, and the
/// delay to its target.
#[test]
fn target_with_sojourn_times() {
    assert_pie_tracks("sojourn");
}

/// Law pie-track with the departure-rate estimator.
#[test]
fn target_with_departure_rate() {
    assert_pie_tracks("departure_rate");
}
