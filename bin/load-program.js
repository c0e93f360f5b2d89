import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";

const folder = join(dirname(fileURLToPath(import.meta.url)), "dist");

/**
 * Loads a bundled program, with the code that V8 compiled when it was bundled: parsing it again
 * is a quarter of the CPU time of a start (docs/decisions/031-compiled-code.md).
 * @param {string} name of a file of bin/dist, without extension
 * @returns {any} its exports
 */
export function loadProgram(name) {
  const file = join(folder, `${name}.cjs`);
  // V8 has read it when the process started, the limit stays (NODE_OPTIONS of
  // docs/sizing.md). As long as the flag is set, V8 rejects compiled code.
  setFlagsFromString("--max-old-space-size=0");
  if (existsSync(compiledFileOf(file))) {
    const script = toScript(file, readFileSync(compiledFileOf(file)));
    // V8 compares its version, its flags and the length of the source.
    if (script.cachedDataRejected === false) return run(script, file);
  }
  // Node 22.8 and newer: the next start loads compiled code.
  module.enableCompileCache?.();
  return createRequire(file)(file);
}

/**
 * Writes the compiled code of a program beside it. For the bundler, which has just written
 * the program: V8 would accept the code of another source of the same length.
 * @param {string} name of a file of bin/dist, without extension
 * @param {(program: any) => Promise<() => Promise<void>>} [use] calls functions of its exports and
 *   resolves with how to end that. Their code is written with that of loading the program;
 *   other functions are compiled by their first call.
 */
export async function writeCompiledCode(
  name,
  use = async () => async () => {},
) {
  const file = join(folder, `${name}.cjs`);
  const script = toScript(file);
  const end = await use(run(script, file));
  await writeFile(compiledFileOf(file), script.createCachedData());
  await end();
}

/** Another version of Node.js has other compiled code. */
function compiledFileOf(file) {
  return `${file}.${process.version}-${process.arch}.compiled`;
}

function toScript(file, cachedData) {
  const parameters = "exports, require, module, __filename, __dirname";
  // One line with the first one of the source: line numbers stay.
  const text = Buffer.concat([
    Buffer.from(`(function (${parameters}) {`),
    readFileSync(file),
    Buffer.from("\n})"),
  ]);
  // ASCII, by the bundler: "latin1" takes the bytes as they are. Strings put together here
  // would be copied by V8 into its heap, all 8 MB.
  return new Script(text.latin1Slice(), { filename: file, cachedData });
}

function run(script, file) {
  const loaded = { exports: {} };
  const body = script.runInThisContext();
  body(loaded.exports, createRequire(file), loaded, file, dirname(file));
  return loaded.exports;
}
