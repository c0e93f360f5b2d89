import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the repository, wherever this file was compiled to. */
export const repositoryRoot = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Folder to which full runs write their documents. */
export const documentsFolder = join(repositoryRoot, "docs", "benchmarks");

function findRoot(folder: string): string {
  return existsSync(join(folder, "packages"))
    ? folder
    : findRoot(dirname(folder));
}
