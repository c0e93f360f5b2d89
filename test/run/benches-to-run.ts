import { pathToFileURL } from "node:url";
import { git } from "./git.js";

// node test/dist/run/benches-to-run.js REVISION BENCH...
// Prints the benches of which CI makes a short run, one a line, in the order given.

/** Of the benches whose own code has not changed, a run has one in this number. */
const TURNS = 3;

/** What all benches depend on. */
const FOR_ALL = /^(package-lock\.json$|bench\/src\/(harness|measure)\/)/;

const MIRROR = [
  "parser-pool",
  "xen-api",
  "inventory",
  "perf",
  "model",
  "kit",
  "xapi-sim",
];
/** Packages that a bench measures; other benches measure the whole server. */
const MEASURED: Readonly<Record<string, readonly string[]>> = {
  pools: MIRROR,
  events: MIRROR,
  inventory: MIRROR,
  fleet: MIRROR,
  placement: ["placement"],
  "perf-probe": ["perf"],
};
const SERVER = [...MIRROR, "xo-server", "store", "filter"];

/**
 * Benches whose own code has changed, and a third of those that depend on other
 * changed code, another third with each commit: compilation finds most of what
 * breaks them, and full runs run all.
 * @param benches names of all benches
 * @param changed paths relative to the root
 * @param commits number of commits up to the revision that is tested
 */
export function benchesToRun(
  benches: readonly string[],
  changed: Iterable<string>,
  commits: number,
): string[] {
  const files = [...changed];
  return benches.filter((bench, index) => {
    const ownFolder = `bench/src/${bench}/`;
    if (files.some((file) => file.startsWith(ownFolder))) return true;
    const isAffected = files.some((file) => isAffectedBy(bench, file));
    return isAffected && index % TURNS === commits % TURNS;
  });
}

function isAffectedBy(bench: string, file: string): boolean {
  const packages = MEASURED[bench] ?? SERVER;
  return (
    FOR_ALL.test(file) ||
    packages.some((name) => file.startsWith(`packages/${name}/src/`))
  );
}

function main(since: string, benches: readonly string[]): void {
  const changed = git("diff", "--name-only", "--no-renames", since, "HEAD");
  const commits = Number(git("rev-list", "--count", "HEAD")[0]);
  for (const bench of benchesToRun(benches, changed, commits))
    console.log(bench);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  main(process.argv[2]!, process.argv.slice(3));
