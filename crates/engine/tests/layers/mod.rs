//! Who may use whom: modules of the engine use those in the lines of `layers.txt` below their own, and nowhere in the project's Rust
//! do two modules of a module use each other. Paths are read from the sources' tokens: those that begin with `crate`, `super` or
//! `self`. A name that a module takes from another is that one's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

const LAYERS: &str = include_str!("layers.txt");

/// What the engine does without: it performs no I/O, has no clock and starts no threads.
const REFUSED: [&str; 7] = ["env", "fs", "io", "net", "process", "thread", "time"];

/// A module, by the names on the way to it.
type Module = Vec<String>;

/// A path as it stands in a module.
struct Use {
    file: String,
    by: Module,
    path: Module,
}

/// What the sources of a crate say.
#[derive(Default)]
struct Sources {
    modules: BTreeSet<Module>,
    /// Names that a module defines.
    items: BTreeMap<String, BTreeSet<Module>>,
    /// Names that a module takes from elsewhere.
    taken: BTreeMap<(Module, String), Module>,
    uses: Vec<Use>,
    /// Paths into the standard library.
    standard: Vec<(String, Module)>,
}

/// A module's use of its sibling, with the file and the path of one.
type Siblings = BTreeMap<(Module, String), BTreeMap<String, String>>;

impl Sources {
    /// Those of files, by their places.
    fn new(files: &[(PathBuf, String)]) -> Sources {
        let mut sources = Sources::default();
        sources.modules.extend(files.iter().map(|(file, _)| module(file)));
        for (file, text) in files {
            sources.read(&file.display().to_string(), &module(file), text.parse().expect("Rust"));
        }
        sources
    }

    /// Those of a crate.
    fn of(name: &str) -> Sources {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        let mut files = Vec::new();
        collect(&folder, &folder, &mut files);
        files.sort();
        Sources::new(&files)
    }

    /// Reads tokens of a module.
    fn read(&mut self, file: &str, at: &Module, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (place, token) in tokens.iter().enumerate() {
            let next = |after: usize| tokens.get(place + after);
            match word(Some(token)).as_str() {
                "mod" if is_brace(next(2)) => {
                    let inner = [at.as_slice(), &[word(next(1))]].concat();
                    self.modules.insert(inner.clone());
                    let Some(TokenTree::Group(body)) = next(2) else { unreachable!() };
                    self.read(file, &inner, body.stream());
                }
                "struct" | "enum" | "trait" | "fn" | "const" | "static" | "type" => self.define(at, word(next(1))),
                "macro_rules" => self.define(at, word(next(2))),
                "use" => {
                    let end = tokens[place..].iter().position(|token| token.to_string() == ";").unwrap_or(0);
                    for (path, name) in leaves(&tokens[place + 1..place + end.max(1)], &[]) {
                        let path = self.rooted(at, &path);
                        self.taken.extend(path.map(|path| ((at.clone(), name), path)));
                    }
                }
                "crate" | "self" | "super" | "std" if is_path(next(1)) && !follows_path(&tokens[..place]) => {
                    for (path, _) in leaves(&tokens[place..], &[]) {
                        match self.rooted(at, &path) {
                            Some(path) => self.uses.push(Use { file: file.to_owned(), by: at.clone(), path }),
                            None => self.standard.push((file.to_owned(), path)),
                        }
                    }
                }
                _ => {
                    if let TokenTree::Group(inner) = token
                        && word(place.checked_sub(2).and_then(|before| tokens.get(before))) != "mod"
                    {
                        self.read(file, at, inner.stream());
                    }
                }
            }
        }
    }

    fn define(&mut self, at: &Module, name: String) {
        self.items.entry(name).or_default().insert(at.clone());
    }

    /// A path of a module from the root of its crate; none if it leads to another crate.
    fn rooted(&self, at: &Module, path: &[String]) -> Option<Module> {
        let up = path.iter().take_while(|name| *name == "super").count();
        let (base, rest) = match path.first()?.as_str() {
            "crate" => (&[][..], &path[1..]),
            "self" => (at.as_slice(), &path[1..]),
            "super" => (&at[..at.len() - up], &path[up..]),
            first if self.modules.contains(&[at.as_slice(), &[first.to_owned()]].concat()) => (at.as_slice(), path),
            _ => return None,
        };
        Some([base, rest].concat())
    }

    /// The module that a path leads to: of what a module takes or has from another, that one.
    fn target(&self, path: &[String]) -> Module {
        let known = (0..=path.len()).rev().find(|length| self.modules.contains(&path[..*length])).unwrap_or(0);
        let (within, rest) = path.split_at(known);
        let Some(name) = rest.first() else { return within.to_vec() };
        if let Some(taken) = self.taken.get(&(within.to_vec(), name.clone()))
            && taken != path
        {
            return self.target(&[taken, &rest[1..]].concat());
        }
        // Macros bring names, too: an item is in the one module that has it.
        let mut having = self.items.get(name).into_iter().flatten().filter(|module| module.starts_with(within));
        match (having.next(), having.next()) {
            (Some(only), None) => only.clone(),
            _ => within.to_vec(),
        }
    }

    /// Which modules use which others of the same module. Tests may use what they like.
    fn siblings(&self) -> Siblings {
        let mut found = Siblings::new();
        for Use { file, by, path } in self.uses.iter().filter(|each| each.by.last().is_none_or(|name| name != "tests"))
        {
            let to = self.target(path);
            let common = by.iter().zip(&to).take_while(|(one, other)| one == other).count();
            if common < by.len() && common < to.len() {
                let key = (by[..common].to_vec(), by[common].clone());
                let import = format!("{file}: {}", path.join("::"));
                found.entry(key).or_default().entry(to[common].clone()).or_insert(import);
            }
        }
        found
    }

    /// The uses that are part of a circle.
    fn circles(&self) -> Vec<String> {
        let siblings = self.siblings();
        let mut found = Vec::new();
        for ((within, by), used) in &siblings {
            for (to, import) in used.iter().filter(|(to, _)| reaches(&siblings, within, to, by)) {
                found.push(format!("{import}: {to} uses {by} in turn"));
            }
        }
        found
    }
}

/// The module of a file.
fn module(file: &Path) -> Module {
    let names =
        file.with_extension("").components().map(|name| name.as_os_str().to_str().unwrap().to_owned()).collect();
    let mut names: Module = names;
    names.pop_if(|last| *last == "mod" || *last == "lib");
    names
}

fn collect(folder: &Path, root: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, root, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push((path.strip_prefix(root).unwrap().to_owned(), fs::read_to_string(&path).unwrap()));
        }
    }
}

/// A token that is a word; else nothing.
fn word(token: Option<&TokenTree>) -> String {
    match token {
        Some(TokenTree::Ident(word)) => word.to_string(),
        _ => String::new(),
    }
}

fn is_path(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == ':')
}

fn is_brace(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace)
}

/// Whether what comes next goes on a path.
fn follows_path(before: &[TokenTree]) -> bool {
    before.len() > 1 && is_path(before.last()) && is_path(before.get(before.len() - 2))
}

/// The paths that tokens begin with, one for each name in braces, each with the name that it has here.
fn leaves(tokens: &[TokenTree], before: &[String]) -> Vec<(Module, String)> {
    let mut path = before.to_vec();
    let mut rest = tokens;
    loop {
        match rest {
            [TokenTree::Group(group), ..] if is_brace(rest.first()) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let each = inner.split(|token| token.to_string() == ",");
                return each.filter(|tokens| !tokens.is_empty()).flat_map(|tokens| leaves(tokens, &path)).collect();
            }
            [TokenTree::Ident(name), after @ ..] => {
                if name != "self" || path.is_empty() {
                    path.push(name.to_string());
                }
                rest = after;
            }
            _ => break,
        }
        match rest {
            [colon, _, TokenTree::Ident(_) | TokenTree::Group(_), ..] if is_path(Some(colon)) => rest = &rest[2..],
            [TokenTree::Ident(renamed), name, ..] if renamed == "as" => return vec![(path, word(Some(name)))],
            _ => break,
        }
    }
    let name = path.last().cloned().unwrap_or_default();
    vec![(path, name)]
}

/// Each module at the top of the engine has a line in the table, and uses only what is in lines below.
#[test]
fn uses_lead_down() {
    let places: BTreeMap<&str, usize> =
        LAYERS.lines().enumerate().flat_map(|(line, names)| names.split(' ').map(move |name| (name, line))).collect();
    let sources = Sources::of("engine");
    let top: BTreeSet<&str> = sources
        .modules
        .iter()
        .filter(|module| module.len() == 1 && !["dispatch", "state"].contains(&module[0].as_str()))
        .map(|module| module[0].as_str())
        .collect();
    assert_eq!(top, places.keys().copied().collect(), "the modules of the engine, and those in layers.txt");
    let mut wrong = Vec::new();
    for ((within, by), used) in sources.siblings() {
        for (to, import) in used.iter().filter(|_| within.is_empty()) {
            if places[by.as_str()] >= places[to.as_str()] {
                wrong.push(format!("{import}: {by} may not use {to}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No two modules of a module use each other, neither directly nor by way of others, in any crate.
#[test]
fn no_circles() {
    let crates = ["engine", "learning", "native", "packetdrill", "pcapng", "python", "wasm"];
    let found = crates.iter().flat_map(|name| Sources::of(name).circles().into_iter().map(move |each| (name, each)));
    let wrong: Vec<String> = found.map(|(name, circle)| format!("{name}/src/{}", circle)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What these sources have of circles, in lines.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<(PathBuf, String)> = files.iter().map(|(file, text)| (file.into(), (*text).to_owned())).collect();
    Sources::new(&files).circles()
}

/// Circles are found at any depth, by way of a third module, within braces, in the text of functions and macros, through names that
/// the module above takes from one of them or has by a macro; what tests use makes none, nor does a module that uses its own modules.
#[test]
fn planted_circles() {
    let found =
        circles_of(&[("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;"), ("b.rs", "fn f() { crate::a::g(); }")]);
    assert_eq!(found, ["a.rs: b::B: b uses a in turn", "b.rs: a::g: a uses b in turn"]);
    let deep = [
        ("x/mod.rs", "pub use a::A; made! { b::B }"),
        ("x/a/mod.rs", "pub struct A; use super::{c::{self, C}, d::D};"),
        ("x/b.rs", "made! { pub struct B; } use super::A;"),
        ("x/c.rs", "use super::B;"),
        ("x/d.rs", ""),
    ];
    let circle =
        ["x/a/mod.rs: x::c: c uses a in turn", "x/b.rs: x::A: a uses b in turn", "x/c.rs: x::B: b uses c in turn"];
    assert_eq!(circles_of(&deep), circle);
    let tested = ("b.rs", "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }");
    assert_eq!(
        circles_of(&[
            ("a.rs", "use crate::b::B;"),
            tested,
            ("c/mod.rs", "use self::d::D;"),
            ("c/d.rs", "use super::E;")
        ]),
        [""; 0]
    );
}

/// Whether a module uses its sibling, directly or by way of others.
fn reaches(siblings: &Siblings, within: &Module, from: &str, to: &str) -> bool {
    let (mut reached, mut open) = (BTreeSet::from([from.to_owned()]), vec![from.to_owned()]);
    while let Some(module) = open.pop() {
        for next in siblings.get(&(within.clone(), module)).into_iter().flat_map(BTreeMap::keys) {
            if next == to {
                return true;
            }
            if reached.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    false
}

/// The engine performs no I/O, has no clock and starts no threads.
#[test]
fn nothing_of_the_machine() {
    let sources = Sources::of("engine");
    let refused = |path: &Module| path.len() > 1 && path[0] == "std" && REFUSED.contains(&path[1].as_str());
    let found: Vec<String> = sources
        .standard
        .iter()
        .filter(|(_, path)| refused(path))
        .map(|(file, path)| format!("{file}: {}", path.join("::")))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
