import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { root } from "./sources.js";

const IMPORT =
  /\b(?:import|export)\s+(?:type\s+)?(?:(\w+)\s*,?\s*)?(?:(\*)(?:\s+as\s+\w+)?|\{([^}]*)\})?\s*from\s+"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"\s*\)/g;
const EXPORT =
  /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|enum|interface|type) (\w+)/gm;

/**
 * `file name` of each constant, function, class and type that a source exports and no file imports.
 * @param sources absolute paths of the files whose exports are checked
 * @param all absolute paths of the files that may import them, tests too
 */
export function unusedExports(
  sources: readonly string[],
  all: readonly string[],
): string[] {
  const imported = importedNames(all);
  return sources.flatMap((file) => {
    const names = imported.get(file) ?? new Set<string>();
    if (names.has("*")) return [];
    return [...readFileSync(file, "utf8").matchAll(EXPORT)]
      .map(([, name]) => name!)
      .filter((name) => !names.has(name))
      .map((name) => `${relative(root, file)} ${name}`);
  });
}

/** By file, the names that others import of it; `*`: all of them. */
function importedNames(files: readonly string[]): Map<string, Set<string>> {
  const imported = new Map<string, Set<string>>();
  for (const file of files)
    for (const match of readFileSync(file, "utf8").matchAll(IMPORT)) {
      const [, , everything, list = "", path, dynamic] = match;
      const target = sourceAt(join(dirname(file), (path ?? dynamic)!));
      const names = imported.get(target) ?? new Set();
      imported.set(target, names);
      if (everything !== undefined || dynamic !== undefined) names.add("*");
      for (const one of list.split(",")) {
        const name = /^\s*(?:type\s+)?(\w+)/.exec(one)?.[1];
        if (name !== undefined) names.add(name);
      }
    }
  return imported;
}

/** The source that an import of a compiled file means. */
function sourceAt(path: string): string {
  const source = resolve(path.replace(/\.js$/, ".ts"));
  return existsSync(source) ? source : resolve(`${path}.ts`);
}
