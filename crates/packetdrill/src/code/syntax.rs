//! The grammar, compiled.

#![allow(missing_docs)]

use pest_derive::Parser;

/// Recognises code.
#[derive(Parser)]
#[grammar = "code/grammar.pest"]
pub struct Syntax;
