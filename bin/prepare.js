/*
 * After `npm ci`: builds. What is built stays as it is where development dependencies
 * are not installed (`npm ci --omit=dev`, `npm prune --omit=dev`).
 */
import { execSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

if (existsSync(join(root, "node_modules/esbuild"))) {
  execSync("npm run build", { cwd: root, stdio: "inherit" });
} else if (!existsSync(join(root, "bin/dist/xo-server.cjs"))) {
  console.error(
    "The programs are not built, and building them needs the development dependencies:\n" +
      "run `npm ci`, then `npm prune --omit=dev`.",
  );
  process.exit(1);
}
