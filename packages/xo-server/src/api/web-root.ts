import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Folder of the built web page; undefined: not built. */
export function findWebRoot(): string | undefined {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve("@xo-server/xo-web/package.json");
  const root = join(dirname(manifest), "dist");
  return existsSync(join(root, "index.html")) ? root : undefined;
}
