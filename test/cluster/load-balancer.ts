import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Test } from "tap";
import { root } from "../running-program.js";
import { fixedPort } from "@xo-server/store/conformance";

/** @returns false, or why the example cannot be run here */
export function noBalancerReason(): string | false {
  try {
    execFileSync("which", ["haproxy"], { stdio: "ignore" });
    return false;
  } catch {
    return "haproxy is not installed";
  }
}

/**
 * HAProxy with the example of docs/several-servers.md, without TLS, before servers
 * on these ports.
 * @returns its URL
 */
export async function startBalancer(
  t: Test,
  ports: readonly number[],
): Promise<string> {
  const page = readFileSync(join(root, "docs/several-servers.md"), "utf8");
  const [, example = ""] = /```haproxy\n([^]*?)```/.exec(page) ?? [];
  const port = await fixedPort();
  const config = example
    .replace(/bind :443.*/, `bind 127.0.0.1:${port}`)
    .replace(/http-request set-header X-Forwarded-Proto.*/, "")
    .replace(" secure", "")
    .replace(/10\.0\.0\.(\d):9000/g, (_, i) => `127.0.0.1:${ports[i - 1]}`);
  const file = join(t.testdir({}), "haproxy.cfg");
  await writeFile(file, config);
  const child = spawn("haproxy", ["-db", "-f", file], { stdio: "pipe" });
  let output = "";
  child.stderr.on("data", (text) => (output += String(text)));
  child.once("exit", (code) => {
    if (code !== null && code !== 0) t.fail(`haproxy ended:\n${output}`);
  });
  t.teardown(async () => {
    if (child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill();
    await ended;
  });
  return `http://127.0.0.1:${port}`;
}
