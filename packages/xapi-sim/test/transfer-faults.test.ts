import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import t, { type Test } from "tap";
import type { SimulatorClock } from "../src/clock.js";
import {
  NOW,
  startServer,
  toAnswer,
  type TestServer,
} from "./transfer-client.js";

const MiB = 2 ** 20;

interface Task {
  readonly status: string;
  readonly error_info: readonly string[];
}

/** Waits of 12,345 ms take until `release`; others next to no time. */
function heldClock(): SimulatorClock & {
  release(): void;
  readonly held: number;
} {
  const waiting: (() => void)[] = [];
  return {
    now: () => NOW,
    setTimeout: (callback, ms) => {
      if (ms === 12_345) return waiting.push(callback);
      return setTimeout(callback, ms < 10_000 ? 1 : ms);
    },
    clearTimeout: (handle) => {
      if (typeof handle === "object") clearTimeout(handle as NodeJS.Timeout);
    },
    release: () => waiting.splice(0).forEach((callback) => callback()),
    get held() {
      return waiting.length;
    },
  };
}

/** A pool, and a disk of 4 MiB of 0x01 in it. */
async function withDisk(
  t: Test,
  options: Parameters<typeof startServer>[0] = {},
) {
  const server = await startServer(options);
  t.teardown(() => server.pool.stop());
  const [sr] = (await server.call("SR.get_by_name_label", "NFS 1")) as [string];
  const vdi = (await server.call("VDI.create", {
    SR: sr,
    virtual_size: 4 * MiB,
    name_label: "d",
    type: "user",
    sharable: false,
    read_only: false,
    other_config: {},
  })) as string;
  const task = (await server.call("task.create", "t", "")) as string;
  const put = (body: Buffer) =>
    server.exchange([
      `PUT /import_raw_vdi?vdi=${vdi}&session_id=${server.session}&task_id=${task} HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n`,
      body,
    ]);
  const get = () => server.get(`/export_raw_vdi?vdi=${vdi}&task_id=${task}`);
  const outcome = () => server.call("task.get_record", task) as Promise<Task>;
  return { server, vdi, task, put, get, outcome };
}

/** An export that is under way. */
async function begin({ port, session }: TestServer, vdi: string, task: string) {
  const socket = connect(port, "127.0.0.1");
  let bytes = 0;
  let isClosed = false;
  socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
  socket.on("error", () => undefined);
  socket.on("close", () => (isClosed = true));
  socket.write(
    `GET /export_raw_vdi?vdi=${vdi}&session_id=${session}&task_id=${task} HTTP/1.1\r\n\r\n`,
  );
  return {
    socket,
    received: () => bytes,
    isClosed: () => isClosed,
  };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

const closing = (socket: Socket) =>
  new Promise((resolve) => socket.once("close", resolve));

t.test("cut: an export ends early, and its task fails", async (t) => {
  const { server, get, outcome } = await withDisk(t);
  server.pool.faults.set("cut", {
    value: 100_000,
    method: "http/get_export_raw_vdi",
    times: 1,
  });
  const { status, body } = await get();
  t.match(status, "200 OK");
  t.equal(body.length, 100_000);
  t.match(await outcome(), { status: "failure" });
});

t.test("earlyEnd: it looks complete, and its task succeeds", async (t) => {
  const { server, get, outcome } = await withDisk(t);
  server.pool.faults.set("earlyEnd", { value: MiB, times: 1 });
  t.equal((await get()).body.length, MiB);
  t.match(await outcome(), { status: "success" });
  t.equal((await get()).body.length, 4 * MiB, "only once");
});

t.test("errorInBody: 200, some bytes, then the page of a 500", async (t) => {
  const { server, get, outcome } = await withDisk(t);
  server.pool.faults.set("errorInBody", { value: 4096 });
  const { status, body } = await get();
  t.match(status, "200 OK");
  const inner = toAnswer(body.subarray(4096));
  t.match(inner.status, / 500 Internal Error/);
  t.match(inner.body.toString(), /Unix_error/);
  t.match(await outcome(), { status: "failure" });
});

t.test("bitFlip: one byte differs in one bit", async (t) => {
  const { server, get } = await withDisk(t);
  const before = (await get()).body;
  server.pool.faults.set("bitFlip", { value: 3 * MiB + 7 });
  const after = (await get()).body;
  t.equal(after.length, before.length);
  t.equal(after[3 * MiB + 7], before[3 * MiB + 7]! ^ 1);
  after[3 * MiB + 7]! ^= 1;
  t.ok(after.equals(before));
});

t.test("a fault of other handlers does nothing here", async (t) => {
  const { server, get } = await withDisk(t);
  server.pool.faults.set("cut", { value: 10, method: "http/get_export" });
  t.equal((await get()).body.length, 4 * MiB);
  t.ok("cut" in server.pool.faults.list());
});

t.test("pause: no data passes for its duration", async (t) => {
  const clock = heldClock();
  const { server, vdi, task } = await withDisk(t, { clock });
  server.pool.faults.set("pause", { value: 12_345, after: 5000, times: 1 });
  const transfer = await begin(server, vdi, task);
  const closed = closing(transfer.socket);
  await until(() => clock.held > 0 && transfer.received() >= 5000);
  const before = transfer.received();
  for (let i = 0; i < 20; i++) await turn();
  t.equal(transfer.received(), before);
  clock.release();
  await closed;
  t.ok(transfer.received() > 4 * MiB);
});

t.test("trickle: a limited number of bytes per second", async (t) => {
  const waits: number[] = [];
  const clock: SimulatorClock = {
    now: () => NOW,
    setTimeout: (callback, ms) => {
      waits.push(ms);
      return setTimeout(callback, ms < 10_000 ? 0 : ms);
    },
    clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
  };
  const { server, get } = await withDisk(t, { clock });
  server.pool.faults.set("trickle", {
    value: MiB,
    method: "http/get_export_raw_vdi",
  });
  waits.length = 0;
  await get();
  const total = waits
    .filter((ms) => ms < 1000)
    .reduce((sum, ms) => sum + ms, 0);
  t.ok(Math.abs(total - 4000) < 10, `${total} ms`);
});

t.test("uploads meet faults, too", async (t) => {
  const { server, put, get, outcome } = await withDisk(t);
  const body = Buffer.alloc(4 * MiB, 7);
  const fault = (name: "bitFlip" | "earlyEnd" | "errorInBody" | "cut") =>
    server.pool.faults.set(name, {
      value: MiB,
      method: "http/put_import_raw_vdi",
      times: 1,
    });
  fault("bitFlip");
  await put(body);
  t.match(await outcome(), { status: "success" });
  const stored = (await get()).body;
  t.equal(stored[MiB], 6);
  stored[MiB] = 7;
  t.ok(stored.equals(body));
});

for (const [name, error] of [
  ["earlyEnd", /VDI_IO_ERROR/],
  ["errorInBody", /Unix_error/],
  ["cut", /the connection is cut/],
] as const)
  t.test(
    `${name}: an upload is taken in part, and its task fails`,
    async (t) => {
      const { server, put, get, outcome } = await withDisk(t);
      await put(Buffer.alloc(4 * MiB));
      server.pool.faults.set(name, {
        value: MiB,
        method: "http/put_import_raw_vdi",
        times: 1,
      });
      await put(Buffer.alloc(4 * MiB, 7)).catch(() => undefined);
      const { error_info, status } = await outcome();
      t.equal(status, "failure");
      t.match(error_info.join(" "), error);
      const { body } = await get();
      t.ok(body.subarray(0, MiB).equals(Buffer.alloc(MiB, 7)));
      t.equal(body[MiB], 0);
    },
  );

t.test("another coordinator: transfers of the old one end", async (t) => {
  const { server, vdi, task, outcome } = await withDisk(t, { members: 1 });
  server.pool.faults.set("stall", {
    value: 1000,
    method: "http/get_export_raw_vdi",
  });
  const transfer = await begin(server, vdi, task);
  const closed = closing(transfer.socket);
  await until(() => transfer.received() > 1000);
  server.pool.promote();
  await closed;
  const record = () => server.pool.database.get("task", task);
  await until(() => record()["status"] !== "pending");
  t.equal(record()["status"], "failure");
  await t.rejects(outcome(), /SESSION_INVALID|HOST_IS_SLAVE/);
});

t.test("a silent coordinator: nothing more of a transfer comes", async (t) => {
  const clock = heldClock();
  const { server, vdi, task } = await withDisk(t, { clock, members: 1 });
  server.pool.faults.set("pause", { value: 12_345, after: 5000, times: 1 });
  const transfer = await begin(server, vdi, task);
  await until(() => clock.held > 0);
  server.pool.faults.set("silent", true);
  server.pool.promote();
  clock.release();
  const before = transfer.received();
  for (let i = 0; i < 50; i++) await turn();
  t.ok(transfer.received() < 100_000, `${before}, ${transfer.received()}`);
  t.notOk(transfer.isClosed());
  transfer.socket.destroy();
});

t.test("a cancelled export ends at once", async (t) => {
  const { server, vdi, task, outcome } = await withDisk(t);
  server.pool.faults.set("stall", {
    value: 1000,
    method: "http/get_export_raw_vdi",
  });
  const transfer = await begin(server, vdi, task);
  const closed = closing(transfer.socket);
  await until(() => transfer.received() > 1000);
  await server.call("task.cancel", task);
  await closed;
  t.match(await outcome(), { status: "cancelled" });
});

t.test(
  "faults that name a handler are injected before it starts",
  async (t) => {
    const { server, get } = await withDisk(t);
    server.pool.faults.set("http500", {
      value: true,
      method: "http/get_export_raw_vdi",
      times: 1,
    });
    t.match((await get()).status, / 500 /);
    server.pool.faults.set("drop", {
      value: true,
      method: "http/get_export_raw_vdi",
      times: 1,
    });
    t.equal((await get()).status, "");
    t.match((await get()).status, / 200 /);
  },
);
