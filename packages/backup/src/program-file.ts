import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The program of a process or thread, beside the module of this URL. Bundled it is a script (`.cjs`), which Node.js
 * starts in less time than a module.
 */
export function programFile(name: string, url: string): string {
  const script = fileURLToPath(new URL(`./${name}.cjs`, url));
  return existsSync(script)
    ? script
    : fileURLToPath(new URL(`./${name}.js`, url));
}
