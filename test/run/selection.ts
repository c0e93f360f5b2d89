import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ROOT, type TestFile } from "./test-files.js";

/** The tests in `test/` that `npm test` runs; `npm run test:all` runs all of them. */
const USUAL = new Set(
  [
    "architecture",
    "reference-pages",
    "repository",
    "shape",
    "run/runner",
    "end-to-end",
    "program",
    "faults/restart",
    "alarm-restarts",
    "rest",
    "rpc-clients",
    "rights",
    "live-queries",
    "operations-matrix",
    "packaging/deb",
    "packaging/monitoring",
    "packaging/proxies",
    "packaging/release",
    "browser/status-page",
    "browser/lists",
  ].map((name) => `test/${name}.test.ts`),
);

/** All tests of packages and benches, and some of the programs as a whole. */
export function isUsual({ source }: TestFile): boolean {
  return !source.startsWith("test/") || USUAL.has(source);
}

/** Tests that run foreign programs. */
export function isForeign({ source }: TestFile): boolean {
  return /^test\/(clients|peers)\//.test(source);
}

/**
 * Tests that a change since the merge base with main can break: those of the
 * changed projects and of the projects that refer to them. On main itself, since the last commit.
 */
export function changedTests(files: readonly TestFile[]): TestFile[] {
  const changed = changedFiles();
  const affected = affectedProjects(changed);
  return files.filter(
    (file) =>
      changed.has(file.source) ||
      (isUsual(file) && affected.has(projectOf(file.source))),
  );
}

function changedFiles(): Set<string> {
  const base = git("merge-base", "HEAD", "main");
  const from = base === git("rev-parse", "HEAD") ? "HEAD~1" : base;
  const committed = git("diff", "--name-only", from).split("\n");
  const fresh = git("ls-files", "--others", "--exclude-standard").split("\n");
  return new Set([...committed, ...fresh].filter((name) => name !== ""));
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

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
}
