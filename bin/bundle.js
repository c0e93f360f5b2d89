/*
 * Bundles the compiled programs into bin/dist: a start reads a few files instead
 * of a thousand. Figures and reasons: docs/decisions/.
 */
import { existsSync } from "node:fs";
import { copyFile, rm, readFile, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { toLicenseTexts } from "../packaging/license-texts.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const outdir = join(root, "bin/dist");

/** Programs, and the files that they start as worker threads: these are found beside the program. */
const entryPoints = {
  "xo-server": "packages/xo-server/dist/src/index.js",
  "xo-cli": "packages/xo-cli/dist/src/index.js",
  "xapi-sim": "packages/xapi-sim/dist/src/index.js",
  worker: "packages/parser-pool/dist/src/worker.js",
  "sqlite-worker": "packages/store/dist/src/engines/sqlite-worker.js",
  "planner-worker": "packages/xo-server/dist/src/placement/planner-worker.js",
  "zstd-worker": "packages/backup/dist/src/format/zstd-worker.js",
  "worker-program": "packages/backup/dist/src/worker/worker-program.js",
  "watchdog-worker": "packages/xo-server/dist/src/lifecycle/watchdog-worker.js",
};

/** Native code, packages that look for files beside their own, and what only tests of Fastify use. */
const external = ["libsql", "light-my-request", "node-expat", "piscina"];

/** What CommonJS packages expect to be there. */
const banner = `import { createRequire as createRequireOfBundle } from "node:module";
import { dirname as dirnameOfBundle } from "node:path";
const require = createRequireOfBundle(import.meta.url);
const __filename = import.meta.filename, __dirname = import.meta.dirname;`;

await rm(outdir, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints,
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  legalComments: "none",
  external,
  banner: { js: banner.replaceAll(/\n/g, " ") },
  logLevel: "warning",
});
for (const file of ["split-records.wasm", "worker-entry.cjs"])
  await copyFile(
    join(root, "packages/parser-pool/dist/src", file),
    join(outdir, file),
  );
await writeFile(
  join(outdir, "LICENSES.txt"),
  await toLicenseTexts(root, Object.keys(metafile.inputs)),
);
await writeFile(
  join(outdir, "external.json"),
  JSON.stringify(await externalPackages(metafile)),
);

/**
 * Packages that the bundle loads at run time: external ones that are installed, and
 * what our own files load by a `require` of their own, which esbuild does not follow.
 */
async function externalPackages({ inputs, outputs }) {
  const own = Object.keys(inputs).filter(
    (path) => !path.includes("node_modules/"),
  );
  const texts = await Promise.all(
    own.map((path) => readFile(join(root, path), "utf8")),
  );
  const loaded = texts.flatMap((text) =>
    Array.from(text.matchAll(/\brequire\("([^"]+)"\)/g), ([, name]) => name),
  );
  const imported = Object.values(outputs).flatMap(({ imports }) =>
    imports.filter((one) => one.external).map(({ path }) => path),
  );
  const names = [...loaded, ...imported]
    .filter((name) => !isBuiltin(name) && !/^[./]/.test(name))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)[0]);
  return [...new Set(names)].filter((name) => !isWithout(name)).toSorted();
}

/** Our own packages are copied as a whole; the others are optional or for tests. */
function isWithout(name) {
  return (
    name.startsWith("@xo-server/") ||
    ["light-my-request", "node-expat"].includes(name) ||
    !existsSync(join(root, "node_modules", name))
  );
}
