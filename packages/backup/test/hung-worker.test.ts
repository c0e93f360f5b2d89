import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import {
  startProcess,
  type WorkerRequest,
} from "../src/worker/start-worker.js";

/**
 * A worker that sends its answer and does not end. Another process has its output open, so that its end is not reported
 * after SIGKILL either: as that of a process that a file server keeps.
 */
const PROGRAM = `
import { spawn } from "node:child_process";
import { connect } from "node:net";
const { port, answer } = JSON.parse(process.argv[2]);
const other = "require('node:net').connect(" + port + ").on('close', () => process.exit())";
spawn(process.execPath, ["-e", other], { stdio: "inherit" });
const socket = connect(port, "127.0.0.1", () => {
  socket.write("worker");
  console.log(JSON.stringify(answer));
});
`;

/** @param answer the last line of the worker */
async function startHung(t: Test, answer: object) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => undefined));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const request: WorkerRequest = {
    publicKey: JSON.stringify({ port, answer }),
    order: "{}",
    hasOutput: false,
    hasInput: false,
  };
  const folder = t.testdir({ "program.mjs": PROGRAM });
  const program = join(folder, "program.mjs");
  const { result } = startProcess(request, { program, exitMs: 1 });
  const killed = new Promise((resolve) => {
    server.on("connection", (socket) => {
      socket.once("data", () => socket.once("close", resolve));
    });
  });
  return { result, killed };
}

t.test("a result arrives although a mount keeps the worker", async (t) => {
  const answer = { type: "result", result: { files: 3 } };
  const { result, killed } = await startHung(t, answer);
  t.same(await result, { files: 3 });
  await killed;
});

t.test("an error arrives although a mount keeps the worker", async (t) => {
  const answer = { type: "error", code: "storage-failed", message: "hung" };
  const { result, killed } = await startHung(t, answer);
  await t.rejects(result, { code: "storage-failed", message: "hung" });
  await killed;
});
