import { readFileSync } from "node:fs";
import { relative } from "node:path";
import ts from "typescript";
import { root } from "./sources.js";

interface FileShape {
  readonly functions: readonly FunctionShape[];
  /**
   * `file:line` of each `catch` that drops the error without a comment: a clause without a
   * binding that throws nothing, in a function without a comment, or `.catch(() => undefined)`.
   */
  readonly unexplainedCatches: readonly string[];
}

interface FunctionShape {
  /** `file:line name, n lines` */
  readonly description: string;
  readonly lines: number;
  /** Of these, in functions that are passed to `t.test`. */
  readonly linesOfTests: number;
}

const shapes = new Map<string, FileShape>();

/** The shape of a .ts or .vue file. Each file is parsed once, and its syntax tree is not kept. */
export function shapeOf(file: string): FileShape {
  const known = shapes.get(file);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(
    file,
    scriptOf(file),
    {
      languageVersion: ts.ScriptTarget.Latest,
      jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
    },
    true,
    ts.ScriptKind.TS,
  );
  const shape = new ShapeReader(relative(root, file), source).read();
  shapes.set(file, shape);
  return shape;
}

/** Reads one syntax tree. */
class ShapeReader {
  readonly #name: string;
  readonly #source: ts.SourceFile;
  readonly #lines: readonly string[];
  readonly #functions: FunctionShape[] = [];
  readonly #unexplainedCatches: string[] = [];

  constructor(name: string, source: ts.SourceFile) {
    this.#name = name;
    this.#source = source;
    this.#lines = source.text.split("\n");
  }

  read(): FileShape {
    this.#visit(this.#source);
    return {
      functions: this.#functions,
      unexplainedCatches: this.#unexplainedCatches,
    };
  }

  /** @returns lines of the functions below a node that are passed to `t.test`, the outermost ones */
  #visit(node: ts.Node): number {
    let linesOfTests = 0;
    ts.forEachChild(node, (child) => {
      const below = this.#visit(child);
      linesOfTests += isTestCallback(child) ? this.#linesOf(child) : below;
    });
    if (ts.isFunctionLike(node)) this.#addFunction(node, linesOfTests);
    else if (ts.isCatchClause(node)) this.#checkClause(node);
    else if (isDroppedRejection(node)) this.#checkRejection(node);
    return linesOfTests;
  }

  #addFunction(node: ts.SignatureDeclaration, linesOfTests: number): void {
    const lines = this.#linesOf(node);
    const at = `${this.#name}:${this.#lineOf(node.getStart(this.#source)) + 1}`;
    this.#functions.push({
      description: `${at} ${this.#nameOf(node)}, ${lines} lines`,
      lines,
      linesOfTests,
    });
  }

  #checkClause(node: ts.CatchClause): void {
    if (node.variableDeclaration !== undefined) return;
    const start = this.#lineOf(node.getStart(this.#source));
    const isExplained =
      node.block.statements.some(ts.isThrowStatement) ||
      this.#hasComment(start, this.#lineOf(node.end)) ||
      this.#isDocumented(node);
    if (!isExplained)
      this.#unexplainedCatches.push(`${this.#name}:${start + 1}`);
  }

  #checkRejection(node: DroppedRejection): void {
    const start = this.#lineOf(node.getStart(this.#source));
    if (this.#hasComment(Math.max(0, start - 2), this.#lineOf(node.end)))
      return;
    const line = this.#lineOf(node.expression.name.getStart(this.#source));
    this.#unexplainedCatches.push(`${this.#name}:${line + 1}`);
  }

  #hasComment(from: number, to: number): boolean {
    return this.#lines
      .slice(from, to + 1)
      .some((line) => /\/\/|\*\//.test(line));
  }

  /** Is there a comment before the function around a node? */
  #isDocumented(node: ts.Node): boolean {
    let around: ts.Node = node;
    while (!ts.isFunctionLike(around) && !ts.isSourceFile(around))
      around = around.parent;
    return this.#source.text
      .slice(around.getFullStart(), around.getStart(this.#source))
      .includes("*/");
  }

  #linesOf(node: ts.Node): number {
    const start = this.#lineOf(node.getStart(this.#source));
    return this.#lineOf(node.end) - start + 1;
  }

  #lineOf(position: number): number {
    return this.#source.getLineAndCharacterOfPosition(position).line;
  }

  #nameOf(node: ts.SignatureDeclaration): string {
    const { name = ts.isVariableDeclaration(node.parent) && node.parent.name } =
      node;
    return name === false ? "(anonymous)" : name.getText(this.#source);
  }
}

/** The function of `t.test(title, options?, function)`. */
function isTestCallback(node: ts.Node): boolean {
  const { parent } = node;
  return (
    ts.isFunctionLike(node) &&
    ts.isCallExpression(parent) &&
    ts.isPropertyAccessExpression(parent.expression) &&
    parent.expression.name.text === "test"
  );
}

type DroppedRejection = ts.CallExpression & {
  readonly expression: ts.PropertyAccessExpression;
};

/** `.catch(() => undefined)` */
function isDroppedRejection(node: ts.Node): node is DroppedRejection {
  if (!ts.isCallExpression(node)) return false;
  const { expression, arguments: input } = node;
  return (
    ts.isPropertyAccessExpression(expression) &&
    expression.name.text === "catch" &&
    /^\(\) => (undefined|\{\s*\})$/.test(input[0]?.getText() ?? "")
  );
}

/** The script of a .vue file, on its own lines. */
function scriptOf(file: string): string {
  const text = readFileSync(file, "utf8");
  if (!file.endsWith(".vue")) return text;
  const match = /<script[^>]*>([\s\S]*?)<\/script>/.exec(text);
  if (match === null) return "";
  const start = text.slice(0, match.index).split("\n").length - 1;
  return "\n".repeat(start) + match[1]!;
}
