//! The grammar, compiled.

use pest_derive::Parser;

/// Recognises code.
#[derive(Parser)]
#[grammar = "code/grammar.pest"]
pub struct Syntax;
