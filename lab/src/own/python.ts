// An algorithm of the page as a file in Python. What has no plain counterpart is marked in the file instead of guessed.

import { type AnyNode, type ClassDeclaration, type Expression, type Node, type Pattern, parse, type Statement } from "acorn";
import type { Declaration } from "./hooks";

/** Raised by what is not translated. */
class Untranslated extends Error {}

const MATHS: Record<string, string> = {
  floor: "math.floor",
  ceil: "math.ceil",
  trunc: "math.trunc",
  sqrt: "math.sqrt",
  cbrt: "math.cbrt",
  exp: "math.exp",
  log: "math.log",
  log2: "math.log2",
  log10: "math.log10",
  pow: "math.pow",
  min: "min",
  max: "max",
  abs: "abs",
};
const CONSTANTS: Record<string, string> = { PI: "math.pi", E: "math.e", SQRT2: "math.sqrt(2)", LN2: "math.log(2)" };
const NAMES: Record<string, string> = { undefined: "None", Infinity: "math.inf", NaN: "math.nan" };
const BINARY: Record<string, [string, number]> = {
  "===": ["==", 5],
  "!==": ["!=", 5],
  "==": ["==", 5],
  "!=": ["!=", 5],
  "<": ["<", 5],
  "<=": ["<=", 5],
  ">": [">", 5],
  ">=": [">=", 5],
  "+": ["+", 8],
  "-": ["-", 8],
  "*": ["*", 9],
  "/": ["/", 9],
  "**": ["**", 11],
};
const WORDS = new Set([
  "and",
  "as",
  "assert",
  "async",
  "def",
  "del",
  "elif",
  "except",
  "from",
  "global",
  "is",
  "lambda",
  "None",
  "nonlocal",
  "not",
  "or",
  "pass",
  "print",
  "raise",
  "True",
  "False",
]);
const KINDS = ["number", "integer", "boolean", "choice", "duration", "size", "rate"];

export function toPython(text: string, declaration: Declaration): { text: string; left: string[] } {
  const program = parse(text, { ecmaVersion: 2022 });
  const kind = program.body.find(
    (each): each is ClassDeclaration => each.type === "ClassDeclaration" && each.superClass !== null,
  );
  if (!kind) throw new Error("there is no class");
  const writer = new Writer(text);
  const body = writer.class(kind);
  const others = program.body.filter((each) => each !== kind).map((each) => writer.top(each));
  const used = [
    "CongestionControl",
    ...(/\bGrowth\(/.test(body) ? ["Growth"] : []),
    ...KINDS.filter((each) => new RegExp(`= ${each}\\(`).test(body)),
  ];
  const title = declaration.title || `${declaration.name}, a congestion control`;
  const lines = [
    `"""${title.replace(/\.?$/, ".")}`,
    "",
    "From Sojourn's laboratory in a browser page. Times are in seconds, sizes in bytes, rates in bits per second.",
    '"""',
    "",
    ...(/\bmath\./.test(body + others.join()) ? ["import math", ""] : []),
    `from sojourn.plugins import ${used.join(", ")}`,
    "",
    ...others,
    "",
    `class ${kind.id?.name ?? "Mine"}(CongestionControl):`,
    body,
  ];
  return {
    text: `${lines
      .join("\n")
      .replace(/\n{4,}/g, "\n\n\n")
      .trimEnd()}\n`,
    left: writer.left,
  };
}

class Writer {
  readonly left: string[] = [];

  constructor(private readonly text: string) {}

  private source(node: Node): string {
    return this.text.slice(node.start, node.end);
  }

  private cannot(node: Node, what: string): never {
    const line = this.text.slice(0, node.start).split("\n").length;
    throw new Untranslated(`line ${line}: ${what}`);
  }

  /** Writes something, or what it was as a comment and an exception in its place. */
  private or(node: Node, indent: string, write: () => string): string {
    try {
      return write();
    } catch (error) {
      if (!(error instanceof Untranslated)) throw error;
      this.left.push(error.message);
      const was = this.source(node)
        .split("\n")
        .map((line) => `${indent}# ${line.trim()}`);
      return [...was, `${indent}raise NotImplementedError("${error.message.replaceAll('"', "'")}")`].join("\n");
    }
  }

  /** What stands before the class. */
  top(node: AnyNode): string {
    return this.or(node, "", () => {
      if (node.type === "VariableDeclaration") return this.statement(node as Statement, "");
      if (node.type === "FunctionDeclaration") {
        const names = node.params.map((each) => this.pattern(each));
        return `\ndef ${node.id?.name ?? ""}(${names.join(", ")}):\n${this.block(node.body.body, "    ")}\n`;
      }
      return this.cannot(node, `${node.type} outside of the class`);
    });
  }

  class(kind: ClassDeclaration): string {
    const parts: string[] = [];
    for (const member of kind.body.body) {
      if (member.type === "PropertyDefinition" && member.static && member.key.type === "Identifier" && member.value) {
        const { name } = member.key;
        const value = member.value;
        parts.push(this.or(member, "    ", () => `    ${name} = ${this.declared(value)}`));
      } else if (member.type === "MethodDefinition" && member.key.type === "Identifier" && !member.static && !member.computed) {
        const name = member.kind === "constructor" ? "__init__" : member.key.name;
        const parameters = ["self", ...member.value.params.map((each) => this.pattern(each))];
        const body = member.value.body.body.filter((each) => !isSuper(each));
        parts.push(`\n    def ${name}(${parameters.join(", ")}):\n${this.block(body, "        ")}`);
      } else {
        parts.push(this.or(member, "    ", () => this.cannot(member, "this member of the class")));
      }
    }
    return parts.join("\n");
  }

  /** The value of a static member: a parameter's declaration, or a constant. */
  private declared(value: Expression): string {
    if (value.type !== "CallExpression" || value.callee.type !== "Identifier" || !KINDS.includes(value.callee.name))
      return this.expression(value);
    const given = value.arguments.map((each) => {
      if (each.type !== "ObjectExpression") return this.expression(each as Expression);
      const keys = each.properties.map((one) => {
        if (one.type !== "Property" || one.key.type !== "Identifier") return this.cannot(one, "this bound");
        return `${one.key.name}=${this.expression(one.value as Expression)}`;
      });
      return keys.join(", ");
    });
    return `${value.callee.name}(${given.filter(Boolean).join(", ")})`;
  }

  private pattern(node: Pattern): string {
    if (node.type !== "Identifier") return this.cannot(node, "only plain names are arguments");
    return WORDS.has(node.name) ? `${node.name}_` : node.name;
  }

  private block(statements: readonly Statement[], indent: string): string {
    const lines = statements.map((each) => this.or(each, indent, () => this.statement(each, indent))).filter(Boolean);
    return lines.length ? lines.join("\n") : `${indent}pass`;
  }

  private body(node: Statement, indent: string): string {
    return this.block(node.type === "BlockStatement" ? node.body : [node], indent);
  }

  private statement(node: Statement, indent: string): string {
    switch (node.type) {
      case "EmptyStatement":
        return "";
      case "ExpressionStatement":
        return `${indent}${this.effect(node.expression)}`;
      case "VariableDeclaration":
        return node.declarations
          .map((each) => `${indent}${this.pattern(each.id)} = ${each.init ? this.expression(each.init) : "None"}`)
          .join("\n");
      case "ReturnStatement":
        return `${indent}return${node.argument ? ` ${this.expression(node.argument)}` : ""}`;
      case "IfStatement": {
        const then = `${indent}if ${this.test(node.test)}:\n${this.body(node.consequent, `${indent}    `)}`;
        if (!node.alternate) return then;
        if (node.alternate.type === "IfStatement")
          return `${then}\n${this.statement(node.alternate, indent).replace(/^(\s*)if /, "$1elif ")}`;
        return `${then}\n${indent}else:\n${this.body(node.alternate, `${indent}    `)}`;
      }
      case "WhileStatement":
        return `${indent}while ${this.test(node.test)}:\n${this.body(node.body, `${indent}    `)}`;
      case "BlockStatement":
        return this.block(node.body, indent);
      case "BreakStatement":
        return `${indent}break`;
      case "ContinueStatement":
        return `${indent}continue`;
      default:
        return this.cannot(node, `${node.type} is not translated`);
    }
  }

  /** An expression that is a statement: it may set something. */
  private effect(node: Expression): string {
    if (node.type === "AssignmentExpression") {
      if (!["=", "+=", "-=", "*=", "/=", "**="].includes(node.operator))
        this.cannot(node, `"${node.operator}" is not translated`);
      return `${this.target(node.left)} ${node.operator} ${this.expression(node.right)}`;
    }
    if (node.type === "UpdateExpression") return `${this.target(node.argument)} ${node.operator === "++" ? "+=" : "-="} 1`;
    return this.expression(node);
  }

  private target(node: Pattern | Expression): string {
    return node.type === "MemberExpression" ? this.expression(node) : this.pattern(node as Pattern);
  }

  /** What is asked for truth. Comparisons are the same in both; plain values are not, but for null. */
  private test(node: Expression): string {
    return this.expression(node);
  }

  /** `above` is how tightly what stands around it binds. */
  private expression(node: Expression, above = 0): string {
    const [text, binds] = this.bound(node);
    return binds < above ? `(${text})` : text;
  }

  private bound(node: Expression): [string, number] {
    switch (node.type) {
      case "Literal":
        return [this.literal(node), 20];
      case "Identifier":
        return [NAMES[node.name] ?? (WORDS.has(node.name) ? `${node.name}_` : node.name), 20];
      case "ThisExpression":
        return ["self", 20];
      case "MemberExpression":
        return [this.member(node), 20];
      case "UnaryExpression":
        if (node.operator === "!") return [`not ${this.expression(node.argument, 4)}`, 4];
        if (node.operator === "-") return [`-${this.expression(node.argument, 10)}`, 10];
        break;
      case "LogicalExpression": {
        if (node.operator === "??") {
          const left = this.expression(node.left, 5);
          return [`${left} if ${left} is not None else ${this.expression(node.right, 1)}`, 0];
        }
        const [word, binds] = node.operator === "&&" ? ["and", 3] : ["or", 2];
        return [
          `${this.expression(node.left, binds as number)} ${word} ${this.expression(node.right, (binds as number) + 1)}`,
          binds as number,
        ];
      }
      case "BinaryExpression":
        return this.binary(node);
      case "ConditionalExpression":
        return [
          `${this.expression(node.consequent, 1)} if ${this.test(node.test)} else ${this.expression(node.alternate, 0)}`,
          0,
        ];
      case "CallExpression":
        return [this.call(node), 20];
      case "NewExpression":
        if (node.callee.type === "Identifier" && node.callee.name === "Growth" && !node.arguments.length) return ["Growth()", 20];
        break;
      case "ArrayExpression":
        return [`[${node.elements.map((each) => this.expression(each as Expression)).join(", ")}]`, 20];
      case "ParenthesizedExpression":
        return this.bound(node.expression);
      default:
    }
    return this.cannot(node, `${node.type} is not translated`);
  }

  private literal(node: Expression & { type: "Literal" }): string {
    if (node.value === null) return "None";
    if (typeof node.value === "boolean") return node.value ? "True" : "False";
    if (typeof node.value === "string") return JSON.stringify(node.value);
    if (typeof node.value === "number") return node.raw?.replaceAll("_", "") ?? String(node.value);
    return this.cannot(node, "this literal");
  }

  private binary(node: Expression & { type: "BinaryExpression" }): [string, number] {
    const operator = BINARY[node.operator];
    if (!operator || node.left.type === "PrivateIdentifier") return this.cannot(node, `"${node.operator}" is not translated`);
    const [sign, binds] = operator;
    const isNone = (each: Expression): boolean =>
      (each.type === "Literal" && each.value === null) || (each.type === "Identifier" && each.name === "undefined");
    if (binds === 5 && (isNone(node.right) || isNone(node.left))) {
      const other = isNone(node.right) ? node.left : node.right;
      return [`${this.expression(other, 6)} ${sign === "==" ? "is" : "is not"} None`, 5];
    }
    // Comparisons that follow each other mean something else in Python, so each side of one is in brackets if it is one.
    const [left, right] = binds === 5 ? [6, 6] : sign === "**" ? [binds + 1, binds] : [binds, binds + 1];
    return [`${this.expression(node.left, left)} ${sign} ${this.expression(node.right, right)}`, binds];
  }

  private member(node: Expression & { type: "MemberExpression" }): string {
    if (node.object.type === "Super") return this.cannot(node, "super is not translated");
    if (node.computed) return `${this.expression(node.object, 20)}[${this.expression(node.property as Expression)}]`;
    if (node.property.type !== "Identifier") return this.cannot(node, "a private member is not translated");
    const { name } = node.property;
    if (node.object.type === "Identifier" && node.object.name === "Math") {
      return CONSTANTS[name] ?? this.cannot(node, `Math.${name} is not translated`);
    }
    return `${this.expression(node.object, 20)}.${name}`;
  }

  private call(node: Expression & { type: "CallExpression" }): string {
    const given = node.arguments.map((each) =>
      each.type === "SpreadElement" ? this.cannot(each, "... is not translated") : this.expression(each),
    );
    const { callee } = node;
    if (callee.type === "Super") return this.cannot(node, "super is not translated");
    if (callee.type === "MemberExpression" && callee.object.type === "Identifier" && callee.property.type === "Identifier") {
      const { name } = callee.property;
      if (callee.object.name === "Math")
        return `${MATHS[name] ?? this.cannot(node, `Math.${name} is not translated`)}(${given.join(", ")})`;
      if (callee.object.name === "Number" && name === "isFinite") return `math.isfinite(${given.join(", ")})`;
    }
    return `${this.expression(callee, 20)}(${given.join(", ")})`;
  }
}

function isSuper(node: Statement): boolean {
  return (
    node.type === "ExpressionStatement" && node.expression.type === "CallExpression" && node.expression.callee.type === "Super"
  );
}
