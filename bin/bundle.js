/*
 * Bundles the compiled programs into bin/dist: a start reads a few files instead
 * of a thousand. Figures and reasons: docs/decisions/.
 */
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire, isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { isBundleCurrent, writeBundleState } from "./bundle-state.js";
import { writeCompiledCode } from "./load-program.js";
import { toLicenseTexts } from "../packaging/license-texts.js";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const outdir = join(root, "bin/dist");

/** One file each: CommonJS, whose compiled code Node.js can load (`load-program.js`). */
const programs = {
  "xo-server": "packages/xo-server/dist/src/index.js",
  "xo-cli": "packages/xo-cli/dist/src/index.js",
  "xapi-sim": "packages/xapi-sim/dist/src/index.js",
};

/** What the programs start as threads and processes: these are found beside the program. */
const workers = {
  worker: "packages/parser-pool/dist/src/worker.js",
  "snapshot-worker":
    "packages/inventory/dist/src/snapshot-cache/snapshot-worker.js",
  "sqlite-worker": "packages/store/dist/src/engines/sqlite-worker.js",
  "planner-worker": "packages/xo-server/dist/src/placement/planner-worker.js",
  "starter-thread": "packages/backup/dist/src/worker/starter-thread.js",
  "saml-worker": "packages/xo-server/dist/src/auth/saml/saml-worker.js",
  "watchdog-worker": "packages/xo-server/dist/src/lifecycle/watchdog-worker.js",
};

/** As `workers`, one file each: scripts, which Node.js starts in less time than modules. For those that start often. */
const workerScripts = {
  "zstd-worker": "packages/backup/dist/src/format/zstd-worker.js",
  "worker-program": "packages/backup/dist/src/worker/worker-program.js",
};

/** Packages that most servers never load. One file each: V8 keeps the source of what is loaded in memory. */
const packagesOnDemand = {
  "ajv-compiler": "@fastify/ajv-compiler",
  "fast-json-stringify-compiler": "@fastify/fast-json-stringify-compiler",
  ldapts: "ldapts",
  nodemailer: "nodemailer",
  "openid-client": "openid-client",
  pg: "pg",
};

/** What the parser pool loads from beside its program. */
const copied = ["split-records.wasm", "worker-entry.cjs"].map(
  (file) => `packages/parser-pool/dist/src/${file}`,
);

/** What the bundle depends on, besides the files that are bundled. */
const scripts = [
  "bin/bundle.js",
  "bin/bundle-state.js",
  "bin/http2-on-demand.js",
  "bin/load-program.js",
  "packaging/license-texts.js",
  "package-lock.json",
];

/** @type {import("esbuild").BuildOptions} */
const options = {
  absWorkingDir: root,
  outdir,
  bundle: true,
  platform: "node",
  target: "node20.19",
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  legalComments: "none",
  // V8 keeps the source of a program in memory. Names and lines of stack traces stay.
  minifyWhitespace: true,
  lineLimit: 160,
  // Native code, packages that look for files beside their own, and what only tests of Fastify use.
  external: ["libsql", "light-my-request", "node-expat", "piscina"],
  logLevel: "warning",
};

/** What CommonJS packages expect in an ES module. */
const moduleBanner = `import { createRequire as createRequireOfBundle } from "node:module";
import { dirname as dirnameOfBundle } from "node:path";
const require = createRequireOfBundle(import.meta.url);
const __filename = import.meta.filename, __dirname = import.meta.dirname;`;

/** What ES modules expect, in CommonJS. */
const scriptBanner =
  'const bundleUrl = require("node:url").pathToFileURL(__filename).href;';

if (await isBundleCurrent(root, outdir)) process.exit();
await rm(outdir, { recursive: true, force: true });
const results = await Promise.all([
  build({
    ...options,
    entryPoints: { ...programs, ...workerScripts, ...packagesOnDemand },
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    banner: { js: scriptBanner },
    plugins: [compiledConfigSchema(), onDemand(), http2OnDemand()],
    // A script with compiled code cannot import: packages that are not bundled are required.
    supported: { "dynamic-import": false },
    define: {
      "import.meta.url": "bundleUrl",
      "import.meta.filename": "__filename",
      "import.meta.dirname": "__dirname",
    },
  }),
  build({
    ...options,
    entryPoints: workers,
    format: "esm",
    splitting: true,
    banner: { js: moduleBanner.replaceAll(/\n/g, " ") },
  }),
]);
const metafile = {
  inputs: Object.assign({}, ...results.map((one) => one.metafile.inputs)),
  outputs: Object.assign({}, ...results.map((one) => one.metafile.outputs)),
};
for (const file of copied)
  await copyFile(join(root, file), join(outdir, basename(file)));
await writeFile(
  join(outdir, "LICENSES.txt"),
  await toLicenseTexts(root, Object.keys(metafile.inputs)),
);
await writeFile(
  join(outdir, "external.json"),
  JSON.stringify(await externalPackages(metafile)),
);
for (const name of Object.keys(programs)) {
  await checkAscii(join(outdir, `${name}.cjs`));
  await writeCompiledCode(name, name === "xo-server" ? tryToStart : undefined);
}
await writeBundleState(root, outdir, [
  ...Object.keys(metafile.inputs),
  ...copied,
  ...scripts,
]);

/** With another character V8 would keep two bytes for each of the 6 million characters; esbuild has escaped them. */
async function checkAscii(file) {
  const at = (await readFile(file)).findIndex((byte) => byte > 0x7f);
  if (at >= 0)
    throw new Error(`${file}: the byte ${at} is not a character of ASCII`);
}

/** Without a start, for example where no port can be opened, the program is only slower to start. */
async function tryToStart(program) {
  try {
    return await startWithoutPools(program);
  } catch (error) {
    console.warn(`compiled code without that of a start: ${error.message}`);
    return async () => {};
  }
}

/**
 * Starts a server without pools in a folder of its own: its compiled code is that of a start.
 * @param program exports of the bundled program
 * @returns stops it and deletes the folder
 */
async function startWithoutPools({ loadConfig, createLoggers, startServer }) {
  const folder = await mkdtemp(join(tmpdir(), "xo-server-bundle-"));
  // A file of its own: no configuration of this machine is used, nor its environment.
  const path = join(folder, "config.yaml");
  await writeFile(path, "{}");
  const env = {};
  const loaded = loadConfig(
    path,
    { host: "127.0.0.1", port: 0, dataDir: folder, logLevel: "silent" },
    { env, cwd: folder, home: folder },
  );
  const loggers = createLoggers(loaded.config.log);
  const server = await startServer({ ...loaded, loggers, env });
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  };
}

/** The validator of the config as code, instead of Ajv compiling its schema at each start. */
function compiledConfigSchema() {
  return {
    name: "compiled-config-schema",
    setup(builder) {
      const filter =
        /[/]xo-server[/]dist[/]src[/]config[/]validate-config\.js$/;
      builder.onLoad({ filter }, async ({ path }) => {
        const { configAjv, validate } = await import(pathToFileURL(path).href);
        // The Ajv of that package.
        const toCode = createRequire(path)("ajv/dist/standalone").default;
        const contents = toCode(configAjv, validate);
        return { contents, loader: "js", resolveDir: dirname(path) };
      });
    },
  };
}

/** Makes programs load `packagesOnDemand` from their files. */
function onDemand() {
  const files = new Map(
    Object.entries(packagesOnDemand).map(([file, name]) => [name, file]),
  );
  return {
    name: "on-demand",
    setup(builder) {
      builder.onResolve({ filter: /^[^.]/ }, ({ path, kind }) => {
        const file = kind === "entry-point" ? undefined : files.get(path);
        return file && { path: `./${file}.cjs`, external: true };
      });
    },
  };
}

function http2OnDemand() {
  return {
    name: "http2-on-demand",
    setup(builder) {
      const path = join(root, "bin/http2-on-demand.js");
      builder.onResolve({ filter: /^node:http2$/ }, ({ importer }) =>
        /[/]fastify[/]lib[/]server\.js$/.test(importer) ? { path } : undefined,
      );
    },
  };
}

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
