import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { RunningProgram } from "./running-program.js";

const LISTENING = /Web server listening on (http:\S+)/;

interface PoolStatus {
  readonly state: string;
  readonly objects: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly error?: { readonly code: string } | null;
  readonly transport?: string | null;
  readonly staleSince?: string | null;
  readonly loadMs?: number | null;
  readonly changesPerSecond: number;
}

interface Status {
  readonly server: { readonly demo: boolean };
  readonly pools: Readonly<Record<string, PoolStatus>>;
  readonly totals: { readonly objects: number };
}

interface Simulated {
  readonly name: string;
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly objects: number;
}

t.test("a demo pool comes in and stays live", async (t) => {
  const server = new RunningProgram(t, "xo-server", [
    ...["start", "--demo", "C", "--host", "127.0.0.1", "--port", "0"],
  ]);
  const url = await server.find(LISTENING);
  const page = await Page.open(t, url);
  await server.find(/xen-api root@127\.0\.0\.1\S*: connected/);
  const first = await page.until(
    ({ pools }) => pools["c"]?.state === "watching",
  );
  t.ok(first.server.demo);
  t.match(first.pools["c"], { counts: { VM: Number, host: 3, pool: 1 } });
  t.ok(first.pools["c"]!.loadMs! > 0);
  t.equal(first.totals.objects, first.pools["c"]!.objects);
  await page.until(({ pools }) => pools["c"]!.changesPerSecond > 0);

  t.test("what the patches lead to is what the server says", async (t) => {
    const { followed, told } = await page.compare();
    t.same(followed, told);
  });

  t.test("it is ready, and serves the page", async (t) => {
    t.match(await (await fetch(`${url}/health`)).json(), {
      ready: true,
      pools: { byState: { watching: 1 } },
    });
    const answer = await fetch(url);
    t.ok(
      answer.status === 200 || /has not been built/.test(await answer.text()),
    );
  });

  t.test("SIGTERM logs out and leaves nothing behind", async (t) => {
    t.equal(await server.stop("SIGTERM"), 0);
    t.match(server.output, /xen-api root@127\.0\.0\.1\S*: disconnected/);
    t.notMatch(server.output, /error|unhandled|uncaught/i);
  });
});

t.test("pools that fail do not disturb the others", async (t) => {
  const [good] = await simulate(t, "--churn", "20");
  const pool = (label: string, url: string, password: string) =>
    `  - { label: ${label}, hosts: ["${url}"], password: ${password} }`;
  const cwd = t.testdir({
    "config.yaml": [
      "xapi: { throttleMs: 50, backoff: { firstMs: 50, maxMs: 200 } }",
      "pools:",
      pool("Good", good!.url, good!.password),
      pool("Wrong password", good!.url, "hunter2"),
      pool("Unreachable", "http://127.0.0.1:1", "hunter2"),
    ].join("\n"),
  });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const server = new RunningProgram(t, "xo-server", args, { cwd });
  const page = await Page.open(t, await server.find(LISTENING));

  t.test("each says how it is", async (t) => {
    const { pools } = await page.until(
      ({ pools }) =>
        pools["good"]?.state === "watching" &&
        pools["wrong-password"]?.state === "failed" &&
        pools["unreachable"]?.state === "backing-off",
    );
    t.match(pools["wrong-password"]!.error, {
      code: "SESSION_AUTHENTICATION_FAILED",
    });
    t.match(pools["unreachable"]!.error, { code: "CONNECTION_REFUSED" });
    t.ok(pools["good"]!.objects > 1000);
  });

  for (const [fault, setting] of [
    ["sessionInvalid", { value: true, times: 1 }],
    ["eventsLost", { value: true, times: 1 }],
    ["cut", { value: 100, method: "event.from", times: 2 }],
    ["badJson", { value: true, method: "event.from", times: 2 }],
    ["http500", { value: true, method: "event.from", times: 2 }],
  ] as const)
    t.test(
      `${fault}: the pool is live again, the same as before`,
      async (t) => {
        const logins = count(server, /: connected/);
        await setFault(good!, fault, setting);
        // A change that is seen after the fault has struck.
        await page.until(async () => !(await isOn(good!, fault)));
        const { pools } = await page.until(({ pools }) => {
          const { state, staleSince, error } = pools["good"]!;
          return state === "watching" && !staleSince && !error;
        });
        t.ok(pools["good"]!.objects > 1000);
        t.ok(count(server, /: connected/) <= logins + 3, "without a storm");
      },
    );

  t.test("the status has been followed without a gap", async (t) => {
    const { followed, told } = await page.compare();
    t.same(followed, told);
  });

  t.test("no password is in the log", async (t) => {
    t.equal(await server.stop(), 0);
    t.notMatch(server.output, "hunter2");
    t.notMatch(server.output, `password: ${good!.password}`);
  });
});

t.test(
  "a pool that falls silent does not keep the server from ending",
  async (t) => {
    const [pool] = await simulate(t);
    const cwd = t.testdir({
      "config.yaml": `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
    });
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const server = new RunningProgram(t, "xo-server", args, { cwd });
    const page = await Page.open(t, await server.find(LISTENING));
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    await setFault(pool!, "silent", true);
    const asked = performance.now();
    t.equal(await server.stop(), 0);
    t.ok(performance.now() - asked < 5000, "within five seconds");
  },
);

/** One small simulated pool in a process of its own. */
async function simulate(
  t: Test,
  ...args: string[]
): Promise<readonly Simulated[]> {
  const program = new RunningProgram(t, "xapi-sim", [
    ...["--pool", "C", "--json", "--prepare", "json", ...args],
  ]);
  const line = await program.find(/^\{"pools":.*/);
  return (JSON.parse(line) as { pools: Simulated[] }).pools;
}

async function setFault(
  { url }: Simulated,
  name: string,
  setting: object | boolean,
): Promise<void> {
  const answer = await fetch(`${url}/sim/faults`, {
    method: "POST",
    body: JSON.stringify({ [name]: setting }),
  });
  if (!answer.ok) throw new Error(`${name}: ${await answer.text()}`);
}

async function isOn({ url }: Simulated, name: string): Promise<boolean> {
  const { faults } = (await (await fetch(`${url}/sim`)).json()) as {
    faults: Record<string, unknown>;
  };
  return Object.hasOwn(faults, name);
}

function count({ lines }: RunningProgram, pattern: RegExp): number {
  return lines.filter((line) => pattern.test(line)).length;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface Message {
  readonly id?: number;
  readonly params?: {
    readonly revision: number;
    readonly base?: number;
    readonly patch?: Json;
    readonly status?: Json;
  };
  readonly result?: { readonly revision: number; readonly status: Json };
}

/** Follows the status as a page does: a snapshot, then patches. */
class Page {
  readonly #socket: WebSocket;
  #status: Json = null;
  #revision = -1;
  #gaps = 0;

  static async open(t: Test, url: string): Promise<Page> {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/`);
    t.teardown(() => {
      socket.terminate();
    });
    await once(socket, "open");
    const page = new Page(socket);
    socket.send('{"jsonrpc":"2.0","id":0,"method":"status.subscribe"}');
    await page.until(() => true);
    return page;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      this.#take(JSON.parse(data.toString()) as Message);
    });
  }

  /** The status as soon as it is as wanted. */
  async until(
    isWanted: (status: Status) => boolean | Promise<boolean>,
  ): Promise<Status> {
    for (;;) {
      if (this.#status !== null) {
        const status = this.#status as unknown as Status;
        if (await isWanted(status)) return status;
      }
      await Promise.race([once(this.#socket, "message"), pause(250)]);
    }
  }

  /** The status as followed and, of the same revision, as a new subscription tells it. */
  async compare(): Promise<{ followed: Json; told: Json }> {
    if (this.#gaps > 0) throw new Error(`${this.#gaps} gaps`);
    const answer = once(this.#socket, "message") as Promise<[Buffer]>;
    this.#socket.send('{"jsonrpc":"2.0","id":1,"method":"status.subscribe"}');
    const before = this.#status;
    const revision = this.#revision;
    const { result } = JSON.parse(String((await answer)[0])) as Message;
    return result?.revision === revision
      ? { followed: withoutNulls(before), told: withoutNulls(result.status) }
      : this.compare();
  }

  #take({ id, params, result }: Message): void {
    if (id === 0) {
      this.#status = result!.status;
      this.#revision = result!.revision;
    }
    if (params === undefined) return;
    if (params.patch === undefined) this.#status = params.status!;
    else if (params.base === this.#revision)
      this.#status = applyPatch(this.#status, params.patch);
    else this.#gaps++;
    this.#revision = params.revision;
  }
}

/** RFC 7386, as its section 2 has it. */
function applyPatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyPatch(result[key] ?? null, value);
  }
  return result;
}

/** A merge patch cannot tell a null from a member that is not there. */
function withoutNulls(value: Json): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([key, inner]) => [key, withoutNulls(inner)]),
  );
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
