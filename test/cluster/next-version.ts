/*
 * A program of tests only: xo-server as its next version may be, with one migration more, which
 * the environment variable XO_TEST_MIGRATION names (next-version-hooks.ts). It runs the compiled
 * modules of the packages; a module hook appends the migration to the list of
 * packages/store. xo-server itself has no option for that.
 */
import { register } from "node:module";

register("./next-version-hooks.js", import.meta.url);
// After the hook: a static import would be loaded before it.
const { main } = await import("@xo-server/xo-server");
const startDemoPools = () => {
  throw new Error("no demo");
};
process.exit(await main(process.argv.slice(2), { startDemoPools }));
