//! The code in scripts, by what Python says of the same lines.

use sojourn_packetdrill::code::{Failure, Variables};

fn run(code: &str) -> Result<(), Failure> {
    let names = |name: &str| match name {
        "tcpi_snd_cwnd" => Some(10),
        "tcpi_rtt" => Some(30_000),
        "tcpi_options" => Some(0x25),
        _ => None,
    };
    Variables::default().execute(code, &names)
}

/// True assertions of the kinds in google's scripts pass.
#[test]
fn true_assertions_pass() {
    for code in [
        "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd",
        "assert 29000 <= tcpi_rtt <= 31000, 'rtt=%d' % tcpi_rtt",
        "assert (tcpi_options & 0x20) != 0, tcpi_options",
        "cwnd = 7; cwnd += 3\nassert tcpi_snd_cwnd == cwnd, \"a; b\" # since; 2013",
        "print(tcpi_rtt); assert not (tcpi_rtt < 1 or tcpi_snd_cwnd == 9) and 2 + 3 * 4 == 14",
        "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd;\\\n   assert tcpi_rtt // 1000 % 7 == 2;\\\n",
        "\n# nothing\n",
    ] {
        assert_eq!(run(code), Ok(()), "{code}");
    }
}

/// A false assertion tells its text and the values of its names.
#[test]
fn false_assertions_tell_values() {
    let values = vec![("tcpi_rtt".to_owned(), 30_000), ("tcpi_snd_cwnd".to_owned(), 10)];
    let told = run("assert tcpi_snd_cwnd == 9 or tcpi_rtt < 5, 'no'");
    let Err(Failure::False { assertion, values: seen }) = told else { panic!("{told:?}") };
    assert_eq!((assertion.as_str(), seen), ("assert tcpi_snd_cwnd == 9 or tcpi_rtt < 5, 'no'", values));
}

/// A name without a value, and what is no such code, are told and never true.
#[test]
fn unknown_code_told() {
    assert_eq!(run("assert tcpi_nothing == 0"), Err(Failure::Unknown("tcpi_nothing".to_owned())));
    assert_eq!(run("import os"), Err(Failure::Foreign("import os".to_owned())));
    assert_eq!(run("cwnd = 1\nassert tcpi_rtt / 7 == 2"), Err(Failure::Foreign("assert tcpi_rtt / 7 == 2".to_owned())));
}
