import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import t from "tap";
import ts from "typescript";
import { filesBelow, importsOf, packages, root } from "./sources.js";

/** Lines of a function at most, its comments included. */
const MAX_FUNCTION_LINES = 80;
/** Lines of a source file at most; tables of texts (locale/) are left out. */
const MAX_FILE_LINES = 400;
/** Files of a folder at most, without those of its folders; tables of texts (locale/) are left out. */
const MAX_FOLDER_FILES = 60;
/** Lines of a package's README at most: the rest belongs into docs/. */
const MAX_README_LINES = 45;

const sources = [
  ...packages.map((name) => ["packages/" + name, "src"] as const),
  ["bench", "src"] as const,
];

for (const [folder, src] of sources) {
  const base = join(root, folder, src);
  const files = filesBelow(base);

  t.test(`${folder}: no two folders import each other`, async (t) => {
    t.same(mutualFolders(base, files), []);
  });

  t.test(`${folder}: functions are short`, async (t) => {
    t.same(files.flatMap(longFunctions), []);
  });

  t.test(`${folder}: errors are ignored for a stated reason`, async (t) => {
    t.same(files.flatMap(unexplainedCatches), []);
  });

  t.test(`${folder}: files are short`, async (t) => {
    const long = files
      .filter((file) => !file.includes(`${sep}locale${sep}`))
      .map((file) => ({
        file: relative(root, file),
        lines: readFileSync(file, "utf8").split("\n").length - 1,
      }))
      .filter(({ lines }) => lines > MAX_FILE_LINES);
    t.same(long, []);
  });

  t.test(`${folder}: folders are not crowded`, async (t) => {
    const counts = new Map<string, number>();
    for (const file of files) {
      const name = relative(root, dirname(file));
      if (name.includes(`${sep}locale${sep}`)) continue;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    t.same(
      [...counts].filter(([, count]) => count > MAX_FOLDER_FILES),
      [],
    );
  });

  t.test(`${folder}: its README is short, names each folder`, async (t) => {
    const readme = readFileSync(join(root, folder, "README.md"), "utf8");
    const lines = readme.split("\n").length - 1;
    t.ok(lines <= MAX_README_LINES, `${lines} lines`);
    const missing = readdirSync(base, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(readme))
      .map(({ name }) => name);
    t.same(missing, []);
  });
}

/** Pairs of folders, `a <-> b`, whose files import each other; the root of the sources is no folder. */
function mutualFolders(base: string, files: readonly string[]): string[] {
  const edges = new Set<string>();
  for (const file of files)
    for (const { specifier } of importsOf(file)) {
      if (!specifier.startsWith(".")) continue;
      const from = relative(base, dirname(file));
      const to = relative(base, dirname(resolve(dirname(file), specifier)));
      if (from !== to && from !== "" && to !== "") edges.add(`${from} ${to}`);
    }
  return [...edges]
    .map((edge) => edge.split(" ") as [string, string])
    .filter(([from, to]) => from < to && edges.has(`${to} ${from}`))
    .map(([from, to]) => `${from} <-> ${to}`);
}

/** `file:line name, n lines` of each function above the limit. */
function longFunctions(file: string): string[] {
  const source = parsed(file);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const start = source.getLineAndCharacterOfPosition(
        node.getStart(source),
      ).line;
      const lines =
        source.getLineAndCharacterOfPosition(node.end).line - start + 1;
      if (lines > MAX_FUNCTION_LINES)
        found.push(
          `${relative(root, file)}:${start + 1} ${nameOf(node)}, ${lines} lines`,
        );
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/**
 * `file:line` of each `catch` that drops the error without a comment: a clause without a
 * binding that throws nothing, in a function without a comment, or `.catch(() => undefined)`.
 */
function unexplainedCatches(file: string): string[] {
  const source = parsed(file);
  const lines = source.text.split("\n");
  const found: string[] = [];
  const lineOf = (position: number) =>
    source.getLineAndCharacterOfPosition(position).line;
  const hasComment = (from: number, to: number) =>
    lines.slice(from, to + 1).some((line) => /\/\/|\*\//.test(line));
  const visit = (node: ts.Node): void => {
    const start = lineOf(node.getStart(source));
    if (ts.isCatchClause(node) && node.variableDeclaration === undefined) {
      const isExplained =
        node.block.statements.some(ts.isThrowStatement) ||
        hasComment(start, lineOf(node.end)) ||
        isDocumented(node, source);
      if (!isExplained) found.push(`${relative(root, file)}:${start + 1}`);
    }
    if (isDroppedRejection(node)) {
      const line = lineOf(node.expression.name.getStart(source));
      if (!hasComment(Math.max(0, start - 2), lineOf(node.end)))
        found.push(`${relative(root, file)}:${line + 1}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Is there a comment before the function around a node? */
function isDocumented(node: ts.Node, source: ts.SourceFile): boolean {
  let around: ts.Node = node;
  while (!ts.isFunctionLike(around) && !ts.isSourceFile(around))
    around = around.parent;
  const before = source.text.slice(
    around.getFullStart(),
    around.getStart(source),
  );
  return before.includes("*/");
}

/** `.catch(() => undefined)` */
function isDroppedRejection(
  node: ts.Node,
): node is ts.CallExpression & { expression: ts.PropertyAccessExpression } {
  if (!ts.isCallExpression(node)) return false;
  const { expression, arguments: input } = node;
  return (
    ts.isPropertyAccessExpression(expression) &&
    expression.name.text === "catch" &&
    /^\(\) => (undefined|\{\s*\})$/.test(input[0]?.getText() ?? "")
  );
}

function nameOf(node: ts.SignatureDeclaration): string {
  const { name = ts.isVariableDeclaration(node.parent) && node.parent.name } =
    node;
  return name === false ? "(anonymous)" : name.getText();
}

const sourceFiles = new Map<string, ts.SourceFile>();

/** The syntax tree of a file, parsed once. */
function parsed(file: string): ts.SourceFile {
  const known = sourceFiles.get(file);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(
    file,
    scriptOf(file),
    ts.ScriptTarget.Latest,
    true,
    ts.ScriptKind.TS,
  );
  sourceFiles.set(file, source);
  return source;
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
