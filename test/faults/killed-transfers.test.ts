import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

const PASSWORD = "correct horse battery";
const MiB = 2 ** 20;

type Row = Readonly<Record<string, unknown>> & { readonly id: string };

/** One simulated pool that keeps running, and a server that can be killed and started again. */
async function setUp(t: Test) {
  const [pool] = await simulate(t);
  const cwd = t.testdir({
    "config.yaml": `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
  });
  const basic = Buffer.from(`admin:${PASSWORD}`).toString("base64");
  const headers = { authorization: `Basic ${basic}` };
  const start = async () => {
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    const server = new RunningProgram(t, "xo-server", args, { cwd, env });
    const url = await server.find(/Web server listening on (http:\S+)/);
    const list = async (folder: string, filter: string): Promise<Row[]> => {
      const query = `fields=*&filter=${encodeURIComponent(filter)}`;
      const path = `${url}/rest/v0/${folder}?${query}`;
      const answer = await fetch(path, { headers });
      return (await answer.json()) as Row[];
    };
    while ((await list("vms", "power_state:Running")).length === 0)
      await pause(50);
    return { server, url, list };
  };
  return { start, headers };
}

type Server = Awaited<ReturnType<Awaited<ReturnType<typeof setUp>>["start"]>>;

async function kill({ server }: Server): Promise<void> {
  server.child.kill("SIGKILL");
  await server.ended;
}

/** Resolves when the task exists; the time limit of the test ends it. */
async function ended({ list }: Server, name: string): Promise<Row> {
  for (;;) {
    const [task] = await list("tasks", `"${name}"`);
    if (task !== undefined && task["status"] !== "pending") return task;
    await pause(50);
  }
}

t.test(
  "a disk that was being filled when the server was killed is removed",
  LIMIT,
  async (t) => {
    const { start, headers } = await setUp(t);
    const first = await start();
    const [sr] = await first.list("srs", "SR_type:nfs");
    const path = `/rest/v0/srs/${sr!.id}/vdis?raw&name_label=cut`;
    const upload = request(first.url + path, {
      method: "POST",
      headers: { ...headers, "content-length": 64 * MiB },
    });
    upload.on("error", () => undefined);
    upload.write(randomBytes(4 * MiB));
    while ((await first.list("vdis", "name_label:/^cut$/")).length === 0)
      await pause(20);
    await kill(first);
    const second = await start();
    const task = await ended(second, "Import of cut");
    t.match(task, {
      status: "interrupted",
      result: { message: /the disk was deleted/ },
    });
    while ((await second.list("vdis", "name_label:/^cut$/")).length > 0)
      await pause(20);
  },
);

t.test(
  "the snapshot of an export that the server was killed in is removed",
  LIMIT,
  async (t) => {
    const { start, headers } = await setUp(t);
    const first = await start();
    const [vm] = await first.list("vms", "power_state:Running");
    const own = `$snapshot_of:${vm!.id}`;
    const before = (await first.list("vm-snapshots", own)).length;
    const path = `/rest/v0/vms/${vm!.id}.xva`;
    const download = request(first.url + path, { headers }).end();
    download.on("error", () => undefined);
    const [answer] = (await once(download, "response")) as [
      NodeJS.ReadableStream & { destroy(): void },
    ];
    answer.on("error", () => undefined);
    // The client does not read: the rest waits in the pool.
    while ((await first.list("vm-snapshots", own)).length === before)
      await pause(20);
    await kill(first);
    answer.destroy();
    const second = await start();
    const task = await ended(second, "Export of");
    t.match(task, { status: "interrupted" });
    while ((await second.list("vm-snapshots", own)).length > before)
      await pause(20);
    t.match(await second.list("vms", `id:${vm!.id}`), [
      { power_state: "Running" },
    ]);
  },
);
