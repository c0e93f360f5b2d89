/*
 * Which files a bundle was made of, so that it is not made again: `npm ci` makes it, and `npm test`
 * would a second time.
 */
import { readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** In the folder of the bundle; packages leave it out (`packaging/stage.js`). */
const NAME = "inputs.json";

/**
 * @param outdir absolute path of the folder of the bundle
 * @returns whether nothing has changed since `writeBundleState`: no input, and no file of the bundle
 */
export async function isBundleCurrent(root, outdir) {
  try {
    const written = JSON.parse(await readFile(join(outdir, NAME), "utf8"));
    const names = Object.keys(written.files);
    const found = await stateOf(root, names);
    return JSON.stringify(found) === JSON.stringify(written);
  } catch {
    // There is no bundle, or a file has been deleted.
    return false;
  }
}

/** @param inputs paths relative to the root; those without a file, which the bundler made, are left out */
export async function writeBundleState(root, outdir, inputs) {
  const outputs = (await readdir(outdir)).filter((name) => name !== NAME);
  const files = inputs.filter((name) => !/^[\w-]+:/.test(name));
  for (const name of outputs) files.push(join("bin/dist", name));
  const state = await stateOf(root, files);
  await writeFile(join(outdir, NAME), JSON.stringify(state));
}

/** Compiled code is that of one version of Node.js. */
async function stateOf(root, names) {
  const entries = await Promise.all(
    names.map(async (name) => {
      const { mtimeMs, size } = await stat(join(root, name));
      return [name, `${mtimeMs} ${size}`];
    }),
  );
  return { node: process.version, files: Object.fromEntries(entries) };
}
