import type { ResolveHook } from "node:module";

const FILE_TAP = new URL("./file-tap.js", import.meta.url).href;
const ERROR_DOMAIN = new URL("./error-domain.js", import.meta.url).href;

/** Gives test files `file-tap.js` where they import `tap`, and tap itself a cheaper way to see errors. */
export const resolve: ResolveHook = (specifier, context, next) => {
  if (specifier === "tap" && context.parentURL !== FILE_TAP)
    return { url: FILE_TAP, shortCircuit: true };
  if (specifier === "async-hook-domain")
    return { url: ERROR_DOMAIN, shortCircuit: true };
  return next(specifier, context);
};
