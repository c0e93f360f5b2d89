import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { git } from "./git.js";
import { ROOT, type TestFile } from "./test-files.js";

/** The tests in `test/` that `npm test` runs; `npm run test:all` runs all of them. */
const USUAL = namesOfTests([
  // Of the repository
  "architecture",
  "reference-pages",
  "repository",
  "shape",
  "run/runner",
  // Of the programs as a whole
  "end-to-end",
  "program",
  "rest",
  "rpc-clients",
  "rights",
  "live-queries",
  "operations-matrix",
  "browser/status-page",
]);

/** What CI runs besides. */
const CI = namesOfTests([
  "faults/restart",
  "alarm-restarts",
  "operations-matrix-rights",
  "ova-import",
  "packaging/deb",
  "packaging/monitoring",
  "packaging/proxies",
  "packaging/release",
  "browser/lists",
  "browser/lists-accessibility",
]);

function namesOfTests(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => `test/${name}.test.ts`));
}

/** Most tests of packages and benches, and some of the programs as a whole. */
export function isUsual({ source, slow }: TestFile): boolean {
  return source.startsWith("test/") ? USUAL.has(source) : !slow;
}

/** @param since a revision: slow tests of packages run if a change since then can break them */
export function testsOfCi(
  files: readonly TestFile[],
  since: string,
): TestFile[] {
  const affected = affectedProjects(changedFiles(since));
  return files.filter(
    (file) =>
      isUsual(file) ||
      CI.has(file.source) ||
      isForeign(file) ||
      (file.slow && affected.has(projectOf(file.source))),
  );
}

/** Tests that run foreign programs. */
function isForeign({ source }: TestFile): boolean {
  return /^test\/(clients|peers)\//.test(source);
}

/**
 * Tests that a change since the merge base with main can break: those of the
 * changed projects and of the projects that refer to them. On main itself, since the last commit.
 */
export function changedTests(files: readonly TestFile[]): TestFile[] {
  const [base] = git("merge-base", "HEAD", "main");
  const [head] = git("rev-parse", "HEAD");
  const since = base === head ? "HEAD~1" : base!;
  const changed = changedFiles(since);
  const affected = affectedProjects(changed);
  return files.filter(
    (file) =>
      changed.has(file.source) ||
      ((isUsual(file) || file.slow) && affected.has(projectOf(file.source))),
  );
}

function changedFiles(since: string): Set<string> {
  const committed = git("diff", "--name-only", since);
  const untracked = git("ls-files", "--others", "--exclude-standard");
  return new Set([...committed, ...untracked]);
}

/** Folders of projects; where a file of the root has changed, those of all. */
function affectedProjects(changed: ReadonlySet<string>): Set<string> {
  const references = projectReferences();
  const affected = new Set([...changed].map(projectOf));
  const compiles = /^(package(-lock)?\.json|tsconfig.*\.json)$/;
  if ([...changed].some((name) => compiles.test(name)))
    return new Set(references.keys());
  for (const project of affected)
    for (const [other, targets] of references)
      // A set's iterator visits what is added while it runs.
      if (targets.includes(project)) affected.add(other);
  return affected;
}

/** The projects of the root's tsconfig.json and the folders that each refers to. */
function projectReferences(): Map<string, readonly string[]> {
  const packages = readdirSync(join(ROOT, "packages")).map((name) =>
    join("packages", name),
  );
  return new Map(
    [...packages, "bench", "test"].map((project) => [
      project,
      readdirSync(join(ROOT, project))
        .filter((name) => /^tsconfig.*\.json$/.test(name))
        .flatMap((name) => referencesOf(join(ROOT, project, name))),
    ]),
  );
}

function referencesOf(config: string): string[] {
  const { references = [] } = JSON.parse(readFileSync(config, "utf8")) as {
    references?: readonly { readonly path: string }[];
  };
  return references
    .map(({ path }) => resolve(dirname(config), path))
    .map((path) => projectOf(`${relative(ROOT, path)}/`));
}

function projectOf(file: string): string {
  return /^(packages\/[^/]+|[^/]+)/.exec(file)![1]!;
}
