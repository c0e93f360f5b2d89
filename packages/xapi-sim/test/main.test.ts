import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import t from "tap";
import { TestClient } from "./support/raw-client.js";

const PROGRAM = fileURLToPath(
  new URL("../../../../bin/xapi-sim", import.meta.url),
);

interface Summary {
  readonly pools: { name: string; url: string; objects: number }[];
}

function start(...args: string[]) {
  // tap puts its hooks into the environment of every child; `env` takes them out.
  const child = spawn(
    "env",
    ["-u", "NODE_OPTIONS", process.execPath, PROGRAM, ...args],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const line = new Promise<string>((resolve) =>
    createInterface(child.stdout).once("line", resolve),
  );
  const code = new Promise<number | null>((resolve) =>
    child.once("close", resolve),
  );
  return { child, line, code };
}

t.test("the program prints its pools, and ends on SIGTERM", async (t) => {
  const { child, line, code } = start(
    "--hosts",
    "2",
    "--vms",
    "5",
    "--password",
    "secret",
    "--json",
  );
  const { pools } = JSON.parse(await line) as Summary;
  t.match(pools, [{ name: "2x5", user: "root", password: "secret" }]);
  t.ok(pools[0]!.objects > 100);
  await new TestClient(pools[0]!.url).logIn("root", "secret");
  child.kill("SIGTERM");
  t.equal(await code, 0);
});

t.test("it is aborted with its parent if requested", async (t) => {
  const { child, line, code } = start(
    "--hosts",
    "1",
    "--vms",
    "1",
    "--exit-with-parent",
  );
  t.match(await line, /^pool 1x1 at http:\/\/127\.0\.0\.1:\d+ /);
  child.stdin.end();
  t.equal(await code, 0);
});
