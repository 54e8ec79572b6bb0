//! Scripts as google/packetdrill's syntax.md describes them, and texts that are no scripts.

use proptest::collection::vec;
use proptest::prelude::*;
use sojourn_packetdrill::script::{Action, Call, Ecn, Segment, TcpOption, Value, When, parse};

fn only_event(text: &str) -> (When, Action) {
    let script = parse(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
    let [event] = script.events.try_into().unwrap_or_else(|events| panic!("{text}: {events:?}"));
    (event.time, event.action)
}

/// Each kind of time is read in microseconds.
#[test]
fn times() {
    for (text, time) in [
        ("0 close(3) = 0", When::Absolute(0)),
        ("+.01 close(3) = 0", When::Relative(10_000)),
        ("* > . 1:1(0) ack 1", When::Any),
        ("1.5~2 > . 1:1(0) ack 1", When::AbsoluteRange(1_500_000, 2_000_000)),
        ("+.2~+0.25 > . 1:1(0) ack 1", When::RelativeRange(200_000, 250_000)),
    ] {
        assert_eq!(only_event(text).0, time, "{text}");
    }
}

/// A segment has what its line says, and an omitted list of options is an empty one, unlike `<...>`.
#[test]
fn segments() {
    let text = "+0 < [ect0] 80 > 1024 SEWA 0:0(0) ack 5 win 32792 urg 1 <mss 1050,nop,sackOK,wscale 7,TS val 1 ecr 0>";
    let options = vec![
        TcpOption::MaximumSegmentSize(1050),
        TcpOption::NoOperation,
        TcpOption::SackPermitted,
        TcpOption::WindowScale(7),
        TcpOption::Timestamp(1, 0),
    ];
    let segment = Segment {
        ecn: Some(Ecn::Ect0),
        ports: Some((80, 1024)),
        flags: "SEWA".to_owned(),
        acknowledgement: Some(5),
        window: Some(32792),
        urgent: Some(1),
        options: Some(options),
        ..Segment::default()
    };
    assert_eq!(only_event(text).1, Action::Inject(segment));
    let text = "+0 > . 1:1(0) ack 1 <nop,nop,sack 2001:3001 6001:7001,ECN e1b 1 ceb 0>";
    let Action::Expect(segment) = only_event(text).1 else { panic!("{text}") };
    let blocks = TcpOption::Sack(vec![(2001, 3001), (6001, 7001)]);
    let counters = TcpOption::AccurateEcn(vec![("e1b".to_owned(), 1), ("ceb".to_owned(), 0)]);
    assert_eq!(segment.options, Some(vec![TcpOption::NoOperation, TcpOption::NoOperation, blocks, counters]));
    let Action::Expect(any) = only_event("+0 > S 0:0(0) <...>").1 else { panic!() };
    assert_eq!(any.options, None);
}

/// A system call has its duration, arguments of every form, result and error.
#[test]
fn calls() {
    let text = "+.01...0.011 connect(3, {sa_family = AF_INET, sin_port = htons(80), sin_addr = inet_addr(\"1.2.3.4\")}, ...) \
                = -1 EINPROGRESS (Operation now in progress)";
    let address = Value::Fields(vec![
        (Some("sa_family".to_owned()), Value::Name("AF_INET".to_owned())),
        (Some("sin_port".to_owned()), Value::Invocation("htons".to_owned(), vec![Value::Integer(80)])),
        (
            Some("sin_addr".to_owned()),
            Value::Invocation("inet_addr".to_owned(), vec![Value::Text("1.2.3.4".to_owned())]),
        ),
    ]);
    let call = Call {
        until: Some(11_000),
        name: "connect".to_owned(),
        arguments: vec![Value::Integer(3), address, Value::Any],
        returns: Value::Integer(-1),
        error: Some("EINPROGRESS".to_owned()),
    };
    assert_eq!(only_event(text).1, Action::Call(call));
    let Action::Call(flags) = only_event("+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0").1 else { panic!() };
    assert_eq!(
        flags.arguments[2],
        Value::Either(vec![Value::Name("O_RDWR".to_owned()), Value::Name("O_NONBLOCK".to_owned())])
    );
}

/// Options, shell lines before, between and after events, code, comments and packets of other protocols are kept apart.
#[test]
fn other_parts() {
    let text = "--tolerance_usecs=7000 // slow\n`sysctl -q net.ipv4.tcp_ecn=0`\n/* two\n lines */ 0 `ls`\n\
                +0 %{ assert tcpi_rtt > 0 }%\n+0 < icmp unreachable frag_needed mtu 1400 [1:2(1)]\n`true`";
    let script = parse(text).unwrap();
    assert_eq!(script.options, [("tolerance_usecs".to_owned(), Some("7000".to_owned()))]);
    assert_eq!(script.preparation.as_deref(), Some("sysctl -q net.ipv4.tcp_ecn=0"));
    assert_eq!(script.clean_up.as_deref(), Some("true"));
    let lines: Vec<_> = script.events.iter().map(|event| event.line).collect();
    assert_eq!(lines, [4, 5, 6]);
    assert_eq!(script.events[0].action, Action::Shell("ls".to_owned()));
    assert_eq!(script.events[1].action, Action::Code(" assert tcpi_rtt > 0 ".to_owned()));
    assert_eq!(script.events[2].action, Action::Foreign("icmp".to_owned()));
}

/// What is no script is told by line, column and what was expected there.
#[test]
fn problems() {
    let mut wrong = Vec::new();
    for (text, problem) in [
        ("+0 close(3) = 0\n+ close(3) = 0", "line 2, column 3: expected seconds"),
        ("+0 < S 0:0 win 7", "line 1, column 8: expected FIRST:LAST(LENGTH)"),
        ("+0 < S 0:10(0)", "line 1, column 8: 0:10 has 10 bytes, not 0"),
        ("+0 < X 0:0(0)", "line 1, column 6: \"X\" is no TCP flag (flags: F, S, R, P, U, E, W, A, . for ACK)"),
        ("+0 < . 0:0(0) ack 1 win 70000", "line 1, column 25: 70000 is out of range"),
        ("+0 < . 0:0(0) <mss>", "line 1, column 19: expected a number"),
        ("+0 write(4, ..., 1000)", "line 1, column 23: expected = and a result"),
        ("+0", "line 1, column 3: expected a packet or a system call or code in %{ }% or shell lines in backquotes"),
        ("+9999999 close(3) = 0", "line 1, column 2: a time must be at most 1000000 s"),
    ] {
        match parse(text) {
            Ok(script) => panic!("{text}: {script:?}"),
            Err(told) if told.to_string() == problem => {}
            Err(told) => wrong.push((text, told.to_string())),
        }
    }
    assert_eq!(wrong, []);
}

/// Any segment that can be written.
fn segment() -> impl Strategy<Value = Segment> {
    let ecn = prop::option::of(prop::sample::select(vec![Ecn::None, Ecn::Ect0, Ecn::Ect1, Ecn::Ect01, Ecn::Ce]));
    let flags = prop::sample::select(vec!["S", "S.", ".", "P.", "FP.", "R", "-", "SEWA"]);
    let blocks = vec(any::<(u32, u32)>(), 0..40);
    let numbers = any::<(Option<(u16, u16)>, u32, u16, Option<u32>, Option<u16>, Option<(u32, u32)>, bool)>();
    (ecn, flags, blocks, numbers).prop_map(|(ecn, flags, blocks, numbers)| {
        let (ports, first, length, acknowledgement, window, timestamp, any_options) = numbers;
        let length = u32::from(length);
        let mut options = Vec::new();
        if !blocks.is_empty() {
            options.push(TcpOption::Sack(blocks));
        }
        options.extend(timestamp.map(|(value, echo)| TcpOption::Timestamp(value, echo)));
        Segment {
            ecn,
            ports,
            flags: flags.to_owned(),
            sequence: (first, first.wrapping_add(length), length),
            acknowledgement,
            window,
            options: (!any_options).then_some(options),
            ..Segment::default()
        }
    })
}

/// What scripts consist of.
const PIECES: [&str; 24] = [
    "+",
    ".",
    "0",
    "9",
    "~",
    "*",
    " ",
    "\n",
    "<",
    ">",
    "S.",
    "1:1(0)",
    "ack 1",
    "win 5",
    "<mss 1460,",
    "sack 1:2",
    "...",
    "write(",
    "[{",
    "}])",
    " = -1 E",
    "%{",
    "}%",
    "`",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    /// A segment that is written is read as the same.
    #[test]
    fn notation_is_read_back(segment in segment()) {
        prop_assert_eq!(&only_event(&format!("+0 < {segment}")).1, &Action::Inject(segment.clone()), "{}", segment);
    }

    /// No text makes the parser panic, of any bytes or of pieces of scripts.
    #[test]
    fn no_text_breaks_parser(bytes in vec(any::<u8>(), 0..100)) {
        let _ = parse(&String::from_utf8_lossy(&bytes));
        let pieces: String = bytes.iter().map(|byte| PIECES[usize::from(*byte) % PIECES.len()]).collect();
        let _ = parse(&pieces);
    }
}
