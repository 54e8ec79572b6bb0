"""The functions of a Python source: digests that tell which has changed, and marks that tell which was called."""

import ast
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from types import CodeType

Function = ast.FunctionDef | ast.AsyncFunctionDef

#: The name of what marked functions call, with their own name.
MARK = "__reached__"

#: What a source is besides the bodies of its functions: constants, classes, signatures, decorators, docstrings.
OUTSIDE = ""


def digest(text: str | bytes) -> str:
    return hashlib.blake2b(text.encode() if isinstance(text, str) else text, digest_size=12).hexdigest()


def outermost(statements: Iterable[ast.AST], place: str = "") -> Iterator[tuple[str, Function]]:
    """The functions and methods that are not inside of another function, by their qualified names."""
    for node in statements:
        if isinstance(node, Function):
            yield place + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from outermost(node.body, f"{place}{node.name}.")
        elif isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield from outermost(ast.iter_child_nodes(node), place)


def _body(function: Function) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The docstring, if there is one, and the rest."""
    documented = ast.get_docstring(function, clean=False) is not None
    return function.body[:documented], function.body[documented:]


def digests(source: bytes) -> dict[str, str]:
    """The digest of each outermost function's body, and of what is outside; formatting and comments do not count."""
    tree = ast.parse(source)
    bodies: defaultdict[str, list[str]] = defaultdict(list)  # a property's getter and setter have one name
    for name, function in outermost(tree.body):
        documentation, rest = _body(function)
        bodies[name] += map(ast.dump, rest)
        function.body = documentation
    return {OUTSIDE: digest(ast.dump(tree))} | {name: digest("\n".join(body)) for name, body in bodies.items()}


def marked(source: bytes, path: str, label: str) -> CodeType:
    """Compiles a source whose functions call ``MARK`` with ``label`` and the name of the outermost function they are in."""
    tree = ast.parse(source)
    for name, function in outermost(tree.body):
        for node in ast.walk(function):
            if isinstance(node, Function):
                documentation, rest = _body(node)
                mark = ast.Expr(ast.Call(ast.Name(MARK, ast.Load()), [ast.Constant(f"{label}::{name}")], []))
                node.body = [*documentation, ast.copy_location(mark, node.body[-1]), *rest]
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
