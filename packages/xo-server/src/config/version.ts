import { createRequire } from "node:module";

/** One version for the whole repository. */
export const version = (
  createRequire(import.meta.url)("@xo-server/xo-server/package.json") as {
    version: string;
  }
).version;
