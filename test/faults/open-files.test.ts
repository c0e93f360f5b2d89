import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import t, { type Test } from "tap";
import { root } from "../running-program.js";

// Real programs on a busy machine; the runner takes this as the limit of the file, in ms.
t.comment("timeout=240000");

/** The server as a program that may open few files. */
async function start(t: Test, maxOpenFiles: number, config: string) {
  const cwd = t.testdir({ "config.yaml": config });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const program = [process.execPath, join(root, "bin/xo-server"), ...args];
  const child = spawn(
    "sh",
    ["-c", `ulimit -n ${maxOpenFiles}; exec "$@"`, "sh", ...program],
    { cwd, env: { PATH: process.env["PATH"], HOME: cwd } },
  );
  const lines: string[] = [];
  t.teardown(async () => {
    if (child.exitCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "close");
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      lines.push(line);
      const [, found] = /Web server listening on (http:\S+)/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    createInterface(child.stderr).on("line", (line) => lines.push(line));
    child.once("close", (code) => {
      reject(new Error(`exit code ${code}: ${lines.join("\n")}`));
    });
  });
  return { child, lines, url };
}

/** Opens connections that stay idle, and waits until each is open or closed. */
async function openSockets(
  t: Test,
  url: string,
  count: number,
): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: count }, () =>
    connect({ host: hostname, port: Number(port) }),
  );
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.on("error", () => {
            resolve();
          });
          socket.once("connect", resolve).once("close", resolve);
        }),
    ),
  );
  return sockets;
}

t.test("few open files: fewer connections, and the pools stay", async (t) => {
  const { child, lines, url } = await start(t, 256, "");
  t.match(
    lines.join("\n"),
    /At most 128 connections instead of 20000 .* may open 256 files; raise/,
  );
  const sockets = await openSockets(t, url, 400);
  // Longer than the interval of the timers that read the memory.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  t.equal(child.exitCode, null, lines.join("\n"));
  for (const socket of sockets) socket.destroy();
  for (;;) {
    const answer = await fetch(`${url}/health/live`).catch(() => undefined);
    if (answer?.status === 200) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill("SIGTERM");
  const [code] = (await once(child, "exit")) as [number];
  t.equal(code, 0);
  t.notMatch(lines.join("\n"), /uncaught/);
});
