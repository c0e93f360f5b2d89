import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Writes SHA256SUMS of the files of the output folder, for `sha256sum --check`.
 * @param {{ output: string }} options
 * @returns {Promise<string>} path of the file
 */
export async function writeChecksums({ output }) {
  const entries = await readdir(output, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && entry.name !== "SHA256SUMS")
    .map(({ name }) => name)
    .toSorted();
  const lines = await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(output, name));
      return `${createHash("sha256").update(bytes).digest("hex")}  ${name}\n`;
    }),
  );
  const file = join(output, "SHA256SUMS");
  await writeFile(file, lines.join(""));
  return file;
}
