import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import t from "tap";
import ts from "typescript";
import { unusedExports } from "./unused-exports.js";
import { filesBelow, importsOf, packages, root } from "./sources.js";

/** Lines of a function at most, its comments included. */
const MAX_FUNCTION_LINES = 80;
/** Lines of a source file at most; tables of texts (locale/) are left out. */
const MAX_FILE_LINES = 400;
/** Lines of a test at most, with the tests in it. */
const MAX_SUITE_LINES = 250;
/** Exports that no import names, with what uses them. */
const USED_WITHOUT_IMPORT = [
  // The compiler names them in the declaration of createCachedTables.
  "packages/store/src/schema/tables.ts SettingRow",
  "packages/store/src/schema/tables.ts MembershipRow",
  "packages/store/src/schema/tables.ts AclRow",
  // bin/bundle.js makes code of the validator with it.
  "packages/xo-server/src/config/validate-config.ts configAjv",
];
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
        lines: linesOf(file),
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

t.test("tests are short", async (t) => {
  const files = testFolders().flatMap(filesBelow);
  t.same(files.flatMap(longTestFunctions), []);
});

t.test("files of tests are short", async (t) => {
  const long = testFolders()
    .flatMap(filesBelow)
    .filter((file) => linesOf(file) > MAX_FILE_LINES);
  t.same(
    long.map((file) => relative(root, file)),
    [],
  );
});

t.test("what a file exports is imported by another one", async (t) => {
  const checked = sources.flatMap(([folder, src]) =>
    filesBelow(join(root, folder, src)),
  );
  const all = [...checked, ...testFolders().flatMap(filesBelow)];
  t.same(unusedExports(checked, all), USED_WITHOUT_IMPORT);
});

/** The tests of packages, of benchmarks, and of several packages together. */
function testFolders(): string[] {
  return [
    ...sources.map(([folder]) => join(root, folder, "test")),
    join(root, "test"),
  ];
}

/** Pairs of folders, `a <-> b`, whose files import each other; the root of the sources is not a folder. */
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
  return functionsOf(file)
    .filter(({ lines }) => lines > MAX_FUNCTION_LINES)
    .map(({ description }) => description);
}

/** The same for tests, where lines of tests inside of a test count for the suite only. */
function longTestFunctions(file: string): string[] {
  return functionsOf(file)
    .filter(
      ({ lines, linesOfTests }) =>
        lines - linesOfTests > MAX_FUNCTION_LINES || lines > MAX_SUITE_LINES,
    )
    .map(({ description }) => description);
}

interface FunctionShape {
  /** `file:line name, n lines` */
  readonly description: string;
  readonly lines: number;
  /** Of these, in functions that are passed to `t.test`. */
  readonly linesOfTests: number;
}

function functionsOf(file: string): FunctionShape[] {
  const source = parsed(file);
  const lineOf = (position: number) =>
    source.getLineAndCharacterOfPosition(position).line;
  const linesOfNode = (node: ts.Node) =>
    lineOf(node.end) - lineOf(node.getStart(source)) + 1;
  const linesOfTests = (node: ts.Node): number => {
    let lines = 0;
    ts.forEachChild(node, (child) => {
      lines += isTestCallback(child) ? linesOfNode(child) : linesOfTests(child);
    });
    return lines;
  };
  const found: FunctionShape[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const lines = linesOfNode(node);
      const line = lineOf(node.getStart(source)) + 1;
      found.push({
        description: `${relative(root, file)}:${line} ${nameOf(node)}, ${lines} lines`,
        lines,
        linesOfTests: linesOfTests(node),
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
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

function linesOf(file: string): number {
  return readFileSync(file, "utf8").split("\n").length - 1;
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
