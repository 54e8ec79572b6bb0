//! The grammar, compiled.

use pest_derive::Parser;

/// Recognises scripts.
#[derive(Parser)]
#[grammar = "script/grammar.pest"]
pub struct Syntax;
