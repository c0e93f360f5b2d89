import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import t from "tap";
import ts from "typescript";
import { filesBelow, importsOf, packages, root } from "./sources.js";

/** Lines of a function at most, its comments included. */
const MAX_FUNCTION_LINES = 80;
/** Lines of a source file at most; tables of texts (locale/) are left out. */
const MAX_FILE_LINES = 400;
/** Lines of a package's README at most: the rest belongs into docs/. */
const MAX_README_LINES = 60;

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
  const source = ts.createSourceFile(
    file,
    scriptOf(file),
    ts.ScriptTarget.Latest,
    true,
    ts.ScriptKind.TS,
  );
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

function nameOf(node: ts.SignatureDeclaration): string {
  const { name = ts.isVariableDeclaration(node.parent) && node.parent.name } =
    node;
  return name === false ? "(anonymous)" : name.getText();
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
