//! Text to script.

use std::fmt;

use pest::Parser;
use pest::error::{ErrorVariant, LineColLocation};
use pest::iterators::Pair;

use super::syntax::{Rule, Syntax};
use super::{Action, Call, Ecn, Event, Microseconds, Script, Segment, TcpOption, Value, When};

/// Why a text is no script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for Problem {}

type Parsed<T> = Result<T, Problem>;

/// Reads a script.
///
/// # Errors
///
/// The first place where the text is no script, and what was expected there.
pub fn parse(text: &str) -> Parsed<Script> {
    let script = Syntax::parse(Rule::script, text).map_err(|error| unexpected(&error))?.next();
    let mut read = Script { options: Vec::new(), preparation: None, events: Vec::new(), clean_up: None };
    for part in script.into_iter().flat_map(Pair::into_inner) {
        match part.as_rule() {
            Rule::option => read.options.push(option(part)),
            Rule::shell if read.events.is_empty() && read.preparation.is_none() => {
                read.preparation = Some(shell(&part))
            }
            Rule::shell => read.clean_up = Some(shell(&part)),
            Rule::event => read.events.push(event(part)?),
            _ => {}
        }
    }
    Ok(read)
}

fn unexpected(error: &pest::error::Error<Rule>) -> Problem {
    let (line, column) = match error.line_col {
        LineColLocation::Pos(position) | LineColLocation::Span(position, _) => position,
    };
    let message = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => {
            let mut names: Vec<_> = positives.iter().filter_map(|rule| term(*rule)).collect();
            names.sort_unstable();
            names.dedup();
            if names.is_empty() { "not understood".to_owned() } else { format!("expected {}", names.join(" or ")) }
        }
        ErrorVariant::CustomError { message } => message.clone(),
    };
    Problem { line, column, message }
}

/// What a rule is called in a message.
fn term(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::event => "an event",
        Rule::any_time | Rule::relative_range | Rule::relative | Rule::absolute_range | Rule::absolute => "a time",
        Rule::seconds => "seconds",
        Rule::code => "code in %{ }%",
        Rule::shell | Rule::quoted_shell => "shell lines in backquotes",
        Rule::packet | Rule::direction => "a packet",
        Rule::call => "a system call",
        Rule::returns => "= and a result",
        Rule::flags | Rule::segment => "TCP flags",
        Rule::sequence => "FIRST:LAST(LENGTH)",
        Rule::ip | Rule::ip_field => "an IP field",
        Rule::acknowledgement => "ack",
        Rule::window => "win",
        Rule::options => "options in < >",
        Rule::tcp_option | Rule::other_option => "a TCP option",
        Rule::block => "a SACK block",
        Rule::integer => "a number",
        Rule::value | Rule::text | Rule::ellipsis | Rule::list | Rule::fields | Rule::invocation => "a value",
        Rule::word | Rule::name => "a name",
        Rule::EOI => "the end",
        _ => return None,
    })
}

fn wrong(pair: &Pair<'_, Rule>, message: impl Into<String>) -> Problem {
    let (line, column) = pair.line_col();
    Problem { line, column, message: message.into() }
}

fn option(pair: Pair<'_, Rule>) -> (String, Option<String>) {
    let mut parts = pair.into_inner();
    let name = parts.next().map_or_else(String::new, |part| part.as_str().to_owned());
    (name, parts.next().map(|part| part.as_str().trim_matches(['"', '`']).to_owned()))
}

fn shell(pair: &Pair<'_, Rule>) -> String {
    pair.as_str().trim_matches('`').trim().to_owned()
}

fn event(pair: Pair<'_, Rule>) -> Parsed<Event> {
    let line = pair.line_col().0;
    let mut parts = pair.into_inner();
    let (Some(time), Some(action)) = (parts.next(), parts.next()) else {
        unreachable!("the grammar has a time and an action in each event");
    };
    Ok(Event { line, time: when(time)?, action: self::action(action)? })
}

fn when(pair: Pair<'_, Rule>) -> Parsed<When> {
    let rule = pair.as_rule();
    let times = pair.into_inner().map(|part| seconds(&part)).collect::<Parsed<Vec<_>>>()?;
    Ok(match (rule, times.as_slice()) {
        (Rule::relative, &[time]) => When::Relative(time),
        (Rule::absolute, &[time]) => When::Absolute(time),
        (Rule::relative_range, &[from, to]) => When::RelativeRange(from, to),
        (Rule::absolute_range, &[from, to]) => When::AbsoluteRange(from, to),
        _ => When::Any,
    })
}

/// The most seconds in a script: packetdrill's scripts last minutes at the most.
const MOST_SECONDS: f64 = 1e6;

fn seconds(pair: &Pair<'_, Rule>) -> Parsed<Microseconds> {
    match pair.as_str().parse::<f64>() {
        Ok(seconds) if seconds <= MOST_SECONDS => Ok((seconds * 1e6).round() as Microseconds),
        _ => Err(wrong(pair, format!("a time must be at most {MOST_SECONDS} s"))),
    }
}

fn action(pair: Pair<'_, Rule>) -> Parsed<Action> {
    Ok(match pair.as_rule() {
        Rule::code => Action::Code(pair.into_inner().map(|part| part.as_str()).collect()),
        Rule::shell => Action::Shell(shell(&pair)),
        Rule::call => Action::Call(call(pair)?),
        _ => packet(pair)?,
    })
}

fn packet(pair: Pair<'_, Rule>) -> Parsed<Action> {
    let mut read = Segment { options: Some(Vec::new()), ..Segment::default() };
    let mut is_sent_by_script = false;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::direction => is_sent_by_script = part.as_str() == "<",
            Rule::foreign => return Ok(Action::Foreign(first_word(part))),
            Rule::ip => {
                for field in part.into_inner().flat_map(Pair::into_inner) {
                    ip_field(field, &mut read)?;
                }
            }
            Rule::ports => read.ports = Some(pair_of(part)?),
            _ => segment(part, &mut read)?,
        }
    }
    Ok(if is_sent_by_script { Action::Inject(read) } else { Action::Expect(read) })
}

fn first_word(pair: Pair<'_, Rule>) -> String {
    pair.into_inner().next().map_or_else(String::new, |word| word.as_str().to_owned())
}

fn ip_field(pair: Pair<'_, Rule>, read: &mut Segment) -> Parsed<()> {
    if pair.as_rule() == Rule::ecn {
        read.ecn = Some(match pair.as_str() {
            "ect0" => Ecn::Ect0,
            "ect1" => Ecn::Ect1,
            "ect01" => Ecn::Ect01,
            "ce" => Ecn::Ce,
            _ => Ecn::None,
        });
        return Ok(());
    }
    let name = match pair.as_rule() {
        Rule::tos => "tos",
        Rule::ttl => "ttl",
        _ => "flowlabel",
    };
    let [value] = numbers::<i64, 1>(pair)?;
    read.ip_fields.push((name.to_owned(), value));
    Ok(())
}

/// The letters that flags may have.
const FLAGS: &str = "FSRPUEWA.-";

fn segment(pair: Pair<'_, Rule>, read: &mut Segment) -> Parsed<()> {
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::flags => {
                if let Some(letter) =
                    part.as_str().chars().find(|letter| !FLAGS.contains(*letter) && !letter.is_ascii_digit())
                {
                    return Err(wrong(
                        &part,
                        format!("\"{letter}\" is no TCP flag (flags: F, S, R, P, U, E, W, A, . for ACK)"),
                    ));
                }
                read.flags = part.as_str().to_owned();
            }
            Rule::sequence => {
                let place = part.clone();
                let [first, last, length] = numbers(part)?;
                if u32::wrapping_sub(last, first) != length {
                    let message = format!("{first}:{last} has {} bytes, not {length}", u32::wrapping_sub(last, first));
                    return Err(wrong(&place, message));
                }
                read.sequence = (first, last, length);
            }
            Rule::acknowledgement => read.acknowledgement = Some(number(part)?),
            Rule::window => read.window = Some(number(part)?),
            Rule::urgent => read.urgent = Some(number(part)?),
            _ => read.options = options(part)?,
        }
    }
    Ok(())
}

fn options(pair: Pair<'_, Rule>) -> Parsed<Option<Vec<TcpOption>>> {
    let mut read = Vec::new();
    for part in pair.into_inner() {
        if part.as_rule() == Rule::any_options {
            return Ok(None);
        }
        for option in part.into_inner() {
            read.push(tcp_option(option)?);
        }
    }
    Ok(Some(read))
}

fn tcp_option(pair: Pair<'_, Rule>) -> Parsed<TcpOption> {
    Ok(match pair.as_rule() {
        Rule::no_operation => TcpOption::NoOperation,
        Rule::end_of_options => TcpOption::EndOfOptions,
        Rule::maximum_segment_size => TcpOption::MaximumSegmentSize(number(pair)?),
        Rule::window_scale => TcpOption::WindowScale(number(pair)?),
        Rule::sack_permitted => TcpOption::SackPermitted,
        Rule::sack => TcpOption::Sack(pair.into_inner().map(pair_of).collect::<Parsed<_>>()?),
        Rule::timestamp => {
            let [value, echo] = numbers(pair)?;
            TcpOption::Timestamp(value, echo)
        }
        Rule::accurate_ecn => TcpOption::AccurateEcn(pair.into_inner().map(counter).collect::<Parsed<_>>()?),
        _ => TcpOption::Other(pair.as_str().to_owned()),
    })
}

fn counter(pair: Pair<'_, Rule>) -> Parsed<(String, u32)> {
    let name = pair.clone().into_inner().next().map_or_else(String::new, |name| name.as_str().to_owned());
    Ok((name, number(pair)?))
}

fn pair_of<T: TryFrom<i64>>(pair: Pair<'_, Rule>) -> Parsed<(T, T)> {
    let [first, second] = numbers(pair)?;
    Ok((first, second))
}

fn number<T: TryFrom<i64>>(pair: Pair<'_, Rule>) -> Parsed<T> {
    let [number] = numbers(pair)?;
    Ok(number)
}

/// The numbers that a rule of the grammar consists of, as many as it has.
fn numbers<T: TryFrom<i64>, const N: usize>(pair: Pair<'_, Rule>) -> Parsed<[T; N]> {
    let integers = pair.into_inner().filter(|part| part.as_rule() == Rule::integer);
    let read = integers.map(|part| integer(&part)).collect::<Parsed<Vec<T>>>()?;
    Ok(read.try_into().unwrap_or_else(|_| unreachable!("the grammar fixes how many numbers there are")))
}

fn integer<T: TryFrom<i64>>(pair: &Pair<'_, Rule>) -> Parsed<T> {
    let text = pair.as_str();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (digits, radix) = digits.strip_prefix("0x").map_or((digits, 10), |digits| (digits, 16));
    i64::from_str_radix(digits, radix)
        .ok()
        .and_then(|number| T::try_from(sign * number).ok())
        .ok_or_else(|| wrong(pair, format!("{text} is out of range")))
}

fn call(pair: Pair<'_, Rule>) -> Parsed<Call> {
    let mut read = Call { until: None, name: String::new(), arguments: Vec::new(), returns: Value::Any, error: None };
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::until => read.until = part.into_inner().next().map(|time| seconds(&time)).transpose()?,
            Rule::word => read.name = part.as_str().to_owned(),
            Rule::value => read.arguments.push(value(part)?),
            Rule::returns => read.returns = part.into_inner().next().map_or(Ok(Value::Any), value)?,
            Rule::error_number => read.error = Some(part.as_str().to_owned()),
            _ => {}
        }
    }
    Ok(read)
}

fn value(pair: Pair<'_, Rule>) -> Parsed<Value> {
    let mut values = pair.into_inner().map(single).collect::<Parsed<Vec<_>>>()?;
    Ok(if values.len() == 1 { values.remove(0) } else { Value::Either(values) })
}

fn single(pair: Pair<'_, Rule>) -> Parsed<Value> {
    Ok(match pair.as_rule() {
        Rule::integer => Value::Integer(integer(&pair)?),
        Rule::text_value => Value::Text(first_word(pair).trim_matches('"').to_owned()),
        Rule::name => Value::Name(pair.as_str().to_owned()),
        Rule::list => Value::List(pair.into_inner().map(value).collect::<Parsed<_>>()?),
        Rule::fields => Value::Fields(pair.into_inner().map(field).collect::<Parsed<_>>()?),
        Rule::invocation => {
            let name = first_word(pair.clone());
            let values = pair.into_inner().filter(|part| part.as_rule() == Rule::value);
            Value::Invocation(name, values.map(value).collect::<Parsed<_>>()?)
        }
        _ => Value::Any,
    })
}

fn field(pair: Pair<'_, Rule>) -> Parsed<(Option<String>, Value)> {
    let (mut name, mut read) = (None, Value::Any);
    for part in pair.into_inner() {
        if part.as_rule() == Rule::field_name { name = Some(first_word(part)) } else { read = value(part)? }
    }
    Ok((name, read))
}
