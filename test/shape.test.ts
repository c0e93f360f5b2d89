import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import t from "tap";
import { shapeOf } from "./file-shape.js";
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
const MAX_README_LINES = 40;

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
    t.same(
      files.flatMap((file) => shapeOf(file).unexplainedCatches),
      [],
    );
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
  return shapeOf(file)
    .functions.filter(({ lines }) => lines > MAX_FUNCTION_LINES)
    .map(({ description }) => description);
}

/** The same for tests, where lines of tests inside of a test count for the suite only. */
function longTestFunctions(file: string): string[] {
  return shapeOf(file)
    .functions.filter(
      ({ lines, linesOfTests }) =>
        lines - linesOfTests > MAX_FUNCTION_LINES || lines > MAX_SUITE_LINES,
    )
    .map(({ description }) => description);
}

function linesOf(file: string): number {
  return readFileSync(file, "utf8").split("\n").length - 1;
}
