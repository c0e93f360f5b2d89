import type { ResolveHook } from "node:module";

const FILE_TAP = new URL("./file-tap.js", import.meta.url).href;

/** Gives test files `file-tap.js` where they import `tap`. */
export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === "tap" && context.parentURL !== FILE_TAP
    ? { url: FILE_TAP, shortCircuit: true }
    : next(specifier, context);
