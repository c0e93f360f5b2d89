import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../run/test-files.js";

export interface NamedTarget {
  readonly name: string;
  /** Compiled module; see FuzzTarget. */
  readonly module: string;
  /** Inputs of the repository. */
  readonly corpus: string;
}

/** Modules in `packages/<name>/test/fuzz` and `test/fuzz/targets`, by name. */
export function fuzzTargets(): NamedTarget[] {
  const packages = readdirSync(join(ROOT, "packages"));
  const folders = packages.map((name) => [
    join(ROOT, "packages", name, "test", "fuzz"),
    join(ROOT, "packages", name, "dist", "test", "fuzz"),
  ]);
  folders.push([
    join(ROOT, "test/fuzz/targets"),
    join(ROOT, "test/dist/fuzz/targets"),
  ]);
  return folders.flatMap(([source, compiled]) =>
    namesIn(source!).map((name) => ({
      name,
      module: join(compiled!, `${name}.js`),
      corpus: join(ROOT, "test/fuzz/corpus", name),
    })),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".ts"))
      .map((name) => name.slice(0, -3))
      .toSorted();
  } catch {
    // The package has no targets.
    return [];
  }
}
