//! The code between `%{` and `}%`: assertions about what `TCP_INFO` reports, and variables.
//!
//! packetdrill hands it to Python. Of Python this is what scripts use: `assert`, assignment, `print`, whole numbers.

mod syntax;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pest::Parser;
use pest::iterators::{Pair, Pairs};
use pest::pratt_parser::{Assoc, Op, PrattParser};

use syntax::{Rule, Syntax};

/// Why code was not carried out, or an assertion failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An assertion is false: its text, and the names in it with their values.
    False {
        /// The assertion as written.
        assertion: String,
        values: Vec<(String, i64)>,
    },
    /// A name that nothing defines.
    Unknown(String),
    /// More of Python than is understood here: the text from there on.
    Foreign(String),
}

/// The variables that assignments made, which live until the script ends.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    assigned: BTreeMap<String, i64>,
}

/// In rising precedence, as in Python.
static PRECEDENCE: LazyLock<PrattParser<Rule>> = LazyLock::new(|| {
    PrattParser::new()
        .op(Op::infix(Rule::either, Assoc::Left))
        .op(Op::infix(Rule::both, Assoc::Left))
        .op(Op::infix(Rule::add, Assoc::Left) | Op::infix(Rule::subtract, Assoc::Left))
        .op(Op::infix(Rule::multiply, Assoc::Left)
            | Op::infix(Rule::divide, Assoc::Left)
            | Op::infix(Rule::remainder, Assoc::Left))
        .op(Op::prefix(Rule::negative))
});

impl Variables {
    /// Carries out code. `look_up` gives the value of a name that is not assigned.
    ///
    /// # Errors
    ///
    /// The first statement that fails.
    pub fn execute(&mut self, code: &str, look_up: &dyn Fn(&str) -> Option<i64>) -> Result<(), Failure> {
        let statements = Syntax::parse(Rule::code, code).map_err(|error| {
            let at = match error.location {
                pest::error::InputLocation::Pos(at) | pest::error::InputLocation::Span((at, _)) => at,
            };
            let start = code[..at].rfind('\n').map_or(0, |end| end + 1);
            Failure::Foreign(code[start..].lines().next().unwrap_or_default().trim().to_owned())
        })?;
        for statement in statements.flat_map(Pair::into_inner) {
            self.carry_out(statement, look_up)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, statement: Pair<'_, Rule>, look_up: &dyn Fn(&str) -> Option<i64>) -> Result<(), Failure> {
        let (rule, text) = (statement.as_rule(), statement.as_str().trim().to_owned());
        let mut parts = statement.into_inner();
        match rule {
            Rule::assertion => {
                let Some(test) = parts.find(|part| part.as_rule() == Rule::test) else { return Ok(()) };
                let scope = Scope { variables: self, look_up };
                if scope.value(test.clone())? == 0 {
                    return Err(Failure::False { assertion: text, values: self.values_in(test, look_up) });
                }
            }
            Rule::assignment | Rule::change => {
                let name = parts.next().map_or_else(String::new, |name| name.as_str().to_owned());
                let sign = if rule == Rule::change { parts.next().map(|sign| sign.as_str().to_owned()) } else { None };
                let Some(test) = parts.next() else { return Ok(()) };
                let scope = Scope { variables: self, look_up };
                let given = scope.value(test)?;
                let value = match sign.as_deref() {
                    Some("+") => scope.of(&name)?.wrapping_add(given),
                    Some(_) => scope.of(&name)?.wrapping_sub(given),
                    None => given,
                };
                self.assigned.insert(name, value);
            }
            _ => {}
        }
        Ok(())
    }

    fn values_in(&self, test: Pair<'_, Rule>, look_up: &dyn Fn(&str) -> Option<i64>) -> Vec<(String, i64)> {
        let scope = Scope { variables: self, look_up };
        let mut names: Vec<_> =
            test.into_inner().flatten().filter(|part| part.as_rule() == Rule::name).map(|part| part.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().filter_map(|name| Some((name.to_owned(), scope.of(name).ok()?))).collect()
    }
}

/// Where names have values.
struct Scope<'a> {
    variables: &'a Variables,
    look_up: &'a dyn Fn(&str) -> Option<i64>,
}

impl Scope<'_> {
    fn of(&self, name: &str) -> Result<i64, Failure> {
        let assigned = self.variables.assigned.get(name).copied();
        assigned.or_else(|| (self.look_up)(name)).ok_or_else(|| Failure::Unknown(name.to_owned()))
    }

    fn value(&self, pair: Pair<'_, Rule>) -> Result<i64, Failure> {
        let text = pair.as_str();
        let rule = pair.as_rule();
        let mut parts = pair.into_inner();
        match rule {
            Rule::test => self.first_that(parts, |value| value != 0),
            Rule::conjunction => self.first_that(parts, |value| value == 0),
            Rule::negation => match parts.next() {
                Some(part) if part.as_rule() == Rule::not => {
                    let negated = parts.next().map_or(Ok(0), |part| self.value(part))?;
                    Ok(i64::from(negated == 0))
                }
                Some(part) => self.value(part),
                None => Ok(0),
            },
            Rule::comparison => self.compare(parts),
            Rule::arithmetic => self.calculate(parts),
            Rule::negative => parts.next().map_or(Ok(0), |part| self.value(part)).map(i64::wrapping_neg),
            Rule::number => {
                let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
                i64::from_str_radix(digits, radix).map_err(|_| Failure::Foreign(text.to_owned()))
            }
            _ => self.of(text),
        }
    }

    /// Of several, the first value that decides, or the last.
    fn first_that(&self, parts: Pairs<'_, Rule>, decides: impl Fn(i64) -> bool) -> Result<i64, Failure> {
        let mut value = 0;
        for part in parts.filter(|part| !matches!(part.as_rule(), Rule::or | Rule::and)) {
            value = self.value(part)?;
            if decides(value) {
                break;
            }
        }
        Ok(value)
    }

    /// A chain such as `a <= b < c`, which is true if each of its comparisons is.
    fn compare(&self, mut parts: Pairs<'_, Rule>) -> Result<i64, Failure> {
        let mut left = parts.next().map_or(Ok(0), |part| self.value(part))?;
        let mut chain = None;
        while let (Some(comparator), Some(part)) = (parts.next(), parts.next()) {
            let right = self.value(part)?;
            let holds = match comparator.as_str() {
                "==" => left == right,
                "!=" => left != right,
                "<=" => left <= right,
                ">=" => left >= right,
                "<" => left < right,
                _ => left > right,
            };
            chain = Some(chain.unwrap_or(true) && holds);
            left = right;
        }
        Ok(chain.map_or(left, i64::from))
    }

    fn calculate(&self, parts: Pairs<'_, Rule>) -> Result<i64, Failure> {
        PRECEDENCE
            .map_primary(|part| self.value(part))
            .map_infix(|left, operator, right| {
                let (left, right) = (left?, right?);
                Ok(match operator.as_rule() {
                    Rule::add => left.wrapping_add(right),
                    Rule::subtract => left.wrapping_sub(right),
                    Rule::multiply => left.wrapping_mul(right),
                    Rule::both => left & right,
                    Rule::either => left | right,
                    _ if right == 0 => return Err(Failure::Foreign("division by zero".to_owned())),
                    Rule::divide => left.wrapping_div_euclid(right),
                    _ => left.wrapping_rem_euclid(right),
                })
            })
            .parse(parts)
    }
}
