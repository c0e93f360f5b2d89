import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of the repository. */
export const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Names of the folders in packages/. */
export const packages = readdirSync(join(root, "packages")).filter((name) =>
  existsSync(join(root, "packages", name, "package.json")),
);

export interface Import {
  readonly file: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
}

const IMPORT =
  /\b(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']\s*\)|\brequire(?:\.resolve)?\(\s*["']([^"'\n]+)["']\s*\)/g;

/** Imports of a .ts or .vue file, by their text; comments are left out. */
export function importsOf(file: string): Import[] {
  const code = readFileSync(file, "utf8").replace(
    /^\s*(\/\/|\*|\/\*).*$/gm,
    "",
  );
  return [...code.matchAll(IMPORT)].map((match) => ({
    file,
    specifier: (match[2] ?? match[3] ?? match[4])!,
    typeOnly: match[1] !== undefined,
  }));
}

/** Absolute paths of the .ts and .vue files in a folder and in those below it; built files are left out. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|vue)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/[\\/](dist|dist-test|node_modules)[\\/]/.test(file));
}

function findRoot(from: string): string {
  return existsSync(join(from, "packages")) ? from : findRoot(dirname(from));
}
