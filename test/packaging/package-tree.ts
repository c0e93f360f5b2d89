import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../running-program.js";

/** Why packages cannot be built from this tree; false: they can. */
export function missingBuild(): string | false {
  const page = "packages/xo-web/dist/index.html";
  return !existsSync(join(root, page)) && `${page} is not built`;
}

/** Why this test cannot use a program; false: it is installed. */
export function missingProgram(name: string): string | false {
  try {
    execFileSync("which", [name], { stdio: "ignore" });
    return false;
  } catch {
    return `${name} is not installed`;
  }
}

/** `npm run package -- KIND ...`. @returns the path that it prints */
export function buildPackage(...args: readonly string[]): string {
  return execFileSync(
    process.execPath,
    [join(root, "packaging/main.js"), ...args],
    {
      encoding: "utf8",
      env: {
        ...process.env,
        NODE_OPTIONS: "",
        SOURCE_DATE_EPOCH: "1700000000",
      },
    },
  ).trim();
}
