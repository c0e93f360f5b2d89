/*
 * Builds everything: compiles, bundles. On a machine with several cores the page and
 * WebAssembly are built while the compiler, which mostly waits for its largest
 * project, is running.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Ends what runs beside a script that has failed. */
const failure = new AbortController();

/** What the page imports: without these it cannot be built. */
await npmRun("compile", "--", "packages/kit", "packages/filter");
await Promise.all([
  npmRun("compile"),
  npmRun("build", "--workspace", "@xo-server/xo-web"),
  npmRun("build", "--workspace", "@xo-server/parser-pool"),
]);
await npmRun("bundle");

/** Runs a script of npm; the first one that fails ends the build. */
async function npmRun(...args) {
  const { signal } = failure;
  const options = { cwd: root, stdio: "inherit", signal };
  const child = spawn("npm", ["run", ...args], options);
  const [code] = await once(child, "exit");
  if (code === 0) return;
  process.exitCode = 1;
  failure.abort();
  throw new Error(`npm run ${args.join(" ")} failed`);
}
