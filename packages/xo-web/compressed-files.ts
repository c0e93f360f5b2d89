import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import type { Plugin } from "vite";

/** Smaller ones fit into one packet as they are. */
const MIN_BYTES = 1_000;
const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** Leaves `x.js.br` and `x.js.gz` beside each `x.js`, once for all visitors; the server sends what a browser takes. */
export function compressedFiles(): Plugin {
  return {
    name: "compressed-files",
    apply: "build",
    async writeBundle({ dir = "dist" }, bundle) {
      const names = Object.keys(bundle).filter((name) =>
        /\.(js|css|html|svg)$/.test(name),
      );
      await Promise.all(
        names.map(async (name) => {
          const path = join(dir, name);
          const bytes = await readFile(path);
          if (bytes.length < MIN_BYTES) return;
          await writeFile(`${path}.br`, await brotli(bytes));
          await writeFile(`${path}.gz`, await zip(bytes, { level: 9 }));
        }),
      );
    },
  };
}
