import { readFile } from "node:fs/promises";
import type { LoadHook } from "node:module";
import { fileURLToPath } from "node:url";
import { instrument } from "./instrument.js";

const RUNTIME = new URL("./coverage.js", import.meta.url).href;
/** Modules of the project, not of its tests. */
const OURS = /\/packages\/[^/]+\/dist\/src\/[^?]*\.js$/;

/** Counts branches in the modules of the project. */
export const load: LoadHook = async (url, context, next) => {
  if (!OURS.test(url)) return next(url, context);
  const file = fileURLToPath(url);
  const { code } = instrument(await readFile(file, "utf8"), file, RUNTIME);
  return { format: "module", source: code, shortCircuit: true };
};
