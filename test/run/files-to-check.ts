import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { git } from "./git.js";
import { ROOT } from "./test-files.js";

// node test/dist/run/files-to-check.js REVISION lint|format
// Prints the files that CI has to check, one a line: those that changed since the revision. `.`: all.

/** Files that decide what lint finds, or that all code depends on. */
const FOR_LINT =
  /^(package-lock\.json$|eslint\.config\.js$|eslint-rules\/|docs\/denied-words\.json$|(.*\/)?tsconfig[^/]*\.json$)/;
/** Files that decide how files are formatted. */
const FOR_FORMAT = /^(\.prettier|\.editorconfig$)/;
const LINTED = /\.(ts|vue|js)$/;

/**
 * Files to lint: changed ones, and those that import one of them by its path, because a
 * changed type can break a rule there. Importers in other packages are linted in full runs.
 * @param changed paths relative to the root, also of deleted files
 * @param files all files, with a function that reads each
 * @returns undefined: all files
 */
export function filesToLint(
  changed: ReadonlySet<string>,
  files: ReadonlyMap<string, () => string>,
): string[] | undefined {
  if ([...changed].some((name) => FOR_LINT.test(name))) return undefined;
  return [...files]
    .filter(([name]) => LINTED.test(name))
    .filter(
      ([name, read]) =>
        changed.has(name) ||
        importedPaths(name, read()).some((path) => changed.has(path)),
    )
    .map(([name]) => name);
}

/**
 * @param isPrettierNew whether another version of Prettier formatted the other files
 * @returns undefined: all files
 */
export function filesToFormat(
  changed: ReadonlySet<string>,
  files: Iterable<string>,
  isPrettierNew: boolean,
): string[] | undefined {
  if (isPrettierNew) return undefined;
  if ([...changed].some((name) => FOR_FORMAT.test(name))) return undefined;
  return [...files].filter((name) => changed.has(name));
}

/** The version of a package in the text of a package-lock.json. */
export function lockedVersion(lock: string, name: string): string | undefined {
  const { packages } = JSON.parse(lock) as {
    readonly packages: Readonly<Record<string, { readonly version?: string }>>;
  };
  return packages[`node_modules/${name}`]?.version;
}

/** Sources that a file imports by relative paths. */
function importedPaths(name: string, text: string): string[] {
  const imports = text.matchAll(/(?:from|import\()\s*"(\.{1,2}\/[^"]+)"/g);
  return Array.from(imports, ([, path]) =>
    join(name, "..", path!).replace(/\.js$/, ".ts"),
  );
}

function isPrettierNew(since: string): boolean {
  const before = git("show", `${since}:package-lock.json`).join("\n");
  const lock = readFileSync(join(ROOT, "package-lock.json"), "utf8");
  return lockedVersion(before, "prettier") !== lockedVersion(lock, "prettier");
}

function main(since: string, check: string): void {
  const changed = new Set(git("diff", "--name-only", "--no-renames", since));
  const files = new Map(
    git("ls-files").map((name) => [
      name,
      () => readFileSync(join(ROOT, name), "utf8"),
    ]),
  );
  const found =
    check === "lint"
      ? filesToLint(changed, files)
      : filesToFormat(changed, files.keys(), isPrettierNew(since));
  for (const name of found ?? ["."]) console.log(name);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  main(process.argv[2]!, process.argv[3]!);
