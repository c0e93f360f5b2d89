import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../../harness/figures.js";
import { readJob, reportFigures } from "../../measure/job.js";
import type { ApiJob } from "../api-job.js";
import { ListReader, type ListFigures } from "../list-reader.js";
import { MeasuredServer } from "../measured-server.js";
import { startPlainServer } from "../plain-server.js";
import { RawSocket } from "../raw-socket.js";

// All objects over a WebSocket, in turn with the same bytes from a file.
const job = await readJob<ApiJob>();
const server = await MeasuredServer.start(job);
const lists = await ListReader.open(server, server.token);
const reader = await server.connect();
const objects = Object.keys(
  (await reader.call("xo.getAllObjects", {})) as object,
).length;
reader.close();

const { bytes } = await lists.all();
const folder = await mkdtemp(join(tmpdir(), "xo-bench-file-"));
const file = join(folder, "all-objects");
await writeFile(file, Buffer.alloc(bytes, 120));
const plain = await startPlainServer(file);
const plainSocket = await RawSocket.open(plain.url, "/file");
await plainSocket.exchange("warm");

const runs: Run[] = [];
for (let i = 0; i < job.scale.lists; i++) {
  const fileFirst = i % 2 === 1;
  const before = fileFirst ? await sendFile() : undefined;
  const own = await lists.all();
  runs.push({ own, file: before ?? (await sendFile()) });
}
plainSocket.close();
plain.stop();
await rm(folder, { recursive: true });
lists.close();
await server.stop();
reportFigures({
  objects,
  bytes,
  firstMs: median(runs.map(({ own }) => own.firstMs)),
  totalMs: median(runs.map(({ own }) => own.totalMs)),
  fileMs: median(runs.map((run) => run.file.totalMs)),
  ratio: median(runs.map((run) => run.own.totalMs / run.file.totalMs)),
  cpuMs: median(runs.map(({ own }) => own.cpuMs)),
  fileCpuMs: median(runs.map((run) => run.file.cpuMs)),
  cpuRatio: median(runs.map((run) => run.own.cpuMs / run.file.cpuMs)),
  longestBlockMs: Math.max(...runs.map(({ own }) => own.longestBlockMs)),
  longestOwnBlockMs: Math.max(...runs.map(({ own }) => own.longestOwnBlockMs)),
});

interface Run {
  readonly own: ListFigures;
  readonly file: Awaited<ReturnType<typeof sendFile>>;
}

async function sendFile() {
  await plain.begin();
  const times = await plainSocket.exchange("again");
  return { ...times, ...(await plain.end()) };
}
