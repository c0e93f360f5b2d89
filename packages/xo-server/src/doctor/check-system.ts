import { totalmem } from "node:os";
import { findWebRoot } from "../api/web-root.js";
import { limitConnections } from "../limits/open-files.js";
import { failed, ok, warning, type Result } from "./finding.js";

const MIB = 1024 * 1024;
/** Recommended memory. When idle, without pools, the server needs about 90 MiB. */
const RECOMMENDED_MEMORY = 512 * MIB;
const MIN_NODE = [20, 19] as const;

/** @param version such as `v20.19.0` */
export function checkNode(version: string): Result {
  const [major = 0, minor = 0] = version.slice(1).split(".").map(Number);
  const [leastMajor, leastMinor] = MIN_NODE;
  const isEnough =
    major > leastMajor || (major === leastMajor && minor >= leastMinor);
  return isEnough
    ? ok(`Node.js ${version}`)
    : failed(
        `Node.js ${version} is too old`,
        `install Node.js ${MIN_NODE.join(".")} or newer`,
      );
}

/** Whether the files of the web page exist. */
export function checkPage(root = findWebRoot()): Result {
  return root === undefined
    ? warning("the web page is not built", "npm run build")
    : ok(`the web page is in ${root}`);
}

/** @param maxOpenFiles undefined: unknown or unlimited */
export function checkOpenFiles(
  maxConnections: number,
  maxOpenFiles: number | undefined,
): Result {
  const possible = limitConnections(maxConnections, maxOpenFiles);
  const text = `${maxOpenFiles ?? "unlimited"} open files`;
  return possible < maxConnections
    ? warning(
        `${text}: at most ${possible} connections in place of ${maxConnections} (http.maxConnections)`,
        "raise the limit (LimitNOFILE= of the unit, ulimit -n), or lower http.maxConnections",
      )
    : ok(text);
}

/** @param total in bytes; default: memory of the control group or of the machine */
export function checkMemory(
  total = Math.min(totalmem(), process.constrainedMemory() || Infinity),
): Result {
  const text = `${Math.floor(total / MIB)} MiB of memory`;
  return total < RECOMMENDED_MEMORY
    ? warning(text, "give the machine 512 MiB at least (docs/sizing.md)")
    : ok(text);
}
