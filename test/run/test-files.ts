import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../../..");

/** A compiled test file and what its source says about how to run it. */
export interface TestFile {
  /** Source, relative to the root: the name that is shown. */
  readonly source: string;
  /** Absolute path of the compiled file. */
  readonly compiled: string;
  /** The package, `bench`, `test`, or a folder in `test`. */
  readonly group: string;
  /** A line `// own process` in the source: no other file runs in its process. */
  readonly ownProcess: boolean;
  /** A line `// slow` in the source: `npm test` leaves it out, CI runs it if a change can break it. */
  readonly slow: boolean;
  /** Milliseconds; `t.comment("timeout=…")` in the source raises the usual limit. */
  readonly timeout: number;
}

const USUAL_TIMEOUT = Number(process.env["XO_TEST_TIMEOUT"] ?? 240_000);

/** All test files that have a source: a compiled file whose source is deleted does not run. */
export function allTestFiles(): TestFile[] {
  const packages = readdirSync(join(ROOT, "packages"));
  const folders = packages.map((name) => join("packages", name, "test"));
  return [...folders, join("bench", "test"), "test"].flatMap(testFilesBelow);
}

/**
 * @param path a source, a compiled file, or a folder, relative to the working directory
 * @throws where the path leads to no test
 */
export function testFilesAt(path: string): TestFile[] {
  const absolute = resolve(path);
  const name = relative(ROOT, absolute);
  if (!existsSync(absolute)) throw new Error(`${path} does not exist`);
  if (!statSync(absolute).isDirectory())
    return [name.endsWith(".ts") ? fromSource(name) : fromCompiled(name)];
  const files = allTestFiles().filter(({ source }) =>
    source.startsWith(name + sep),
  );
  if (files.length === 0) throw new Error(`${path} has no tests`);
  return files;
}

function testFilesBelow(folder: string): TestFile[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".test.ts") && !name.startsWith("dist"))
    .toSorted()
    .map((name) => fromSource(join(folder, name)));
}

function fromSource(source: string): TestFile {
  return describe(source, join(ROOT, compiledName(source)));
}

/** A compiled file that a caller names: its source may be anywhere. */
function fromCompiled(name: string): TestFile {
  const source = name
    .replace(/(^|\/)dist(-test)?\//, "$1")
    .replace(/\.js$/, ".ts");
  const known = existsSync(join(ROOT, source));
  return describe(known ? source : name, join(ROOT, name));
}

function compiledName(source: string): string {
  const compiled = source.replace(/\.ts$/, ".js");
  if (compiled.startsWith("test/"))
    return compiled.replace(/^test/, "test/dist");
  const folder = compiled.startsWith("packages/xo-web/") ? "dist-test" : "dist";
  return compiled.replace(/(^|\/)test\//, `$1${folder}/test/`);
}

function describe(source: string, compiled: string): TestFile {
  const text = readFileSync(join(ROOT, source), "utf8");
  const [, timeout = 0] = /^t\.comment\("timeout=(\d+)"\)/m.exec(text) ?? [];
  return {
    source,
    compiled,
    group: /^(packages\/[^/]+|test\/(browser|clients|peers)|[^/]+)/.exec(
      source,
    )![1]!,
    ownProcess: /^\/\/ own process/m.test(text),
    slow: /^\/\/ slow/m.test(text),
    timeout: Math.max(Number(timeout), USUAL_TIMEOUT),
  };
}
