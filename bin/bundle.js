/*
 * Bundles the compiled programs into bin/dist: a start reads a few files instead
 * of a thousand. Figures and reasons: docs/decisions/.
 */
import { copyFile, rm, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

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
await copyFile(
  join(root, "packages/parser-pool/dist/src/split-records.wasm"),
  join(outdir, "split-records.wasm"),
);
await writeFile(join(outdir, "LICENSES.txt"), await licensesOf(metafile));

/** The licences of the bundled packages. @throws if a package has none */
async function licensesOf({ inputs }) {
  const folders = new Set(
    Object.keys(inputs).flatMap(
      (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
    ),
  );
  const texts = await Promise.all([...folders].toSorted().map(licenseOf));
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

async function licenseOf(folder) {
  const manifest = await readFile(join(root, folder, "package.json"), "utf8");
  const { name, version, license } = JSON.parse(manifest);
  const names = await readdir(join(root, folder));
  const files = names.filter((file) =>
    /^(licen[cs]e|notice|copying)/i.test(file),
  );
  if (license === undefined && files.length === 0)
    throw new Error(`${name} tells no licence`);
  const texts = await Promise.all(
    files.map((file) => readFile(join(root, folder, file), "utf8")),
  );
  return [`${name} ${version}: ${license ?? "see below"}`, ...texts].join(
    "\n\n",
  );
}
