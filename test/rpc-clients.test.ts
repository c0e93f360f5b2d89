import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { RunningProgram } from "./running-program.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

interface Thing {
  readonly id: string;
  readonly type: string;
  readonly power_state?: string;
  readonly [key: string]: unknown;
}
type Things = Record<string, Thing>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly type: string; readonly items: object };
  readonly result?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data: unknown;
  };
}

/**
 * What clients of Xen Orchestra do: number requests from 0, and keep a copy of all
 * objects by `all`.
 */
class OldClient {
  readonly copy = new Map<string, Thing>();
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (message: Message) => void>();
  #next = 0;

  static async connect(t: Test, url: string): Promise<OldClient> {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/api/`);
    t.teardown(() => {
      socket.terminate();
    });
    await new Promise((resolve, reject) => {
      socket.once("open", resolve).once("error", reject);
    });
    return new OldClient(socket);
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Message;
      if (message.id !== undefined) this.#answers.get(message.id)?.(message);
      else if (message.method === "all") this.#apply(message.params!);
    });
  }

  call(method: string, params?: object): Promise<Message> {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  async request(method: string, params?: object): Promise<unknown> {
    const { result, error } = await this.call(method, params);
    if (error !== undefined)
      throw new Error(`${method}: ${error.code} ${error.message}`);
    return result;
  }

  /** Waits until the copy matches. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await sleep(20);
  }

  #apply({ type, items }: NonNullable<Message["params"]>): void {
    for (const [id, item] of Object.entries(items) as [string, Thing][])
      if (type === "enter") this.copy.set(id, item);
      else this.copy.delete(id);
  }
}

t.test("a client of Xen Orchestra does its job unchanged", LIMIT, async (t) => {
  const server = new RunningProgram(
    t,
    "xo-server",
    ["start", "--demo", "C", "--host", "127.0.0.1", "--port", "0"],
    { env: { XO_ADMIN_PASSWORD: "a good password" } },
  );
  const url = await server.find(/Web server listening on (http:\S+)/);
  const page = await StatusPage.open(t, url);
  await page.until(({ pools }) => pools["c"]?.state === "watching");

  const client = await OldClient.connect(t, url);
  t.match(await client.call("vm.start", { id: "x" }), {
    id: 0,
    error: { code: 2 },
  });
  t.match(
    await client.request("session.signIn", {
      email: "admin",
      password: "a good password",
    }),
    { permission: "admin" },
  );
  t.match(await client.request("token.create", {}), /^[\w-]{43}$/);

  const all = (await client.request("xo.getAllObjects")) as Things;
  t.ok(Object.entries(all).every(([id, object]) => object.id === id));
  for (const type of ["pool", "host", "VM", "VM-template", "SR", "VDI"])
    t.ok(
      Object.values(all).some((one) => one.type === type),
      type,
    );
  const vms = (await client.request("xo.getAllObjects", {
    filter: { type: "VM" },
  })) as Things;
  t.same(
    Object.keys(vms).toSorted(),
    Object.values(all)
      .filter(({ type }) => type === "VM")
      .map(({ id }) => id)
      .toSorted(),
  );

  const { id } = Object.values(vms).find(
    ({ power_state, tags }) => power_state === "Halted" && Array.isArray(tags),
  )!;
  await powerStates(t, client, id);
  await changes(t, client, id);

  const { $getFrom } = (await client.request("xo.getAllObjects", {
    filter: { type: "host" },
    ndjson: true,
  })) as { $getFrom: string };
  const lines = await (await fetch(url + $getFrom)).text();
  t.ok(
    lines
      .trimEnd()
      .split("\n")
      .every((line) => (JSON.parse(line) as Thing).type === "host"),
  );
  t.equal((await fetch(url + $getFrom)).status, 404);
  t.equal(await server.stop("SIGTERM"), 0);
});

async function powerStates(t: Test, client: OldClient, id: string) {
  const isIn = (state: string) => () =>
    client.copy.get(id)?.power_state === state;
  t.equal(await client.request("vm.start", { vm: id }), true);
  await client.until(isIn("Running"));
  t.match(await client.call("vm.start", { id }), {
    error: {
      code: 13,
      message: "VM state is running but should be halted",
      data: { objectId: id, expected: "halted", actual: "running" },
    },
  });
  for (const [method, state] of [
    ["vm.pause", "Paused"],
    ["vm.start", "Running"],
    ["vm.suspend", "Suspended"],
    ["vm.start", "Running"],
    ["vm.stop", "Halted"],
  ] as const) {
    const params = method === "vm.stop" ? { id, force: true } : { id };
    t.equal(await client.request(method, params), true, method);
    await client.until(isIn(state));
  }
}

async function changes(t: Test, client: OldClient, id: string) {
  const tagsOf = () => (client.copy.get(id)?.["tags"] ?? []) as string[];
  t.equal(await client.request("tag.add", { id, tag: "é" }), true);
  await client.until(() => tagsOf().includes("é"));
  t.equal(await client.request("tag.remove", { id, tag: "é" }), true);
  await client.until(() => !tagsOf().includes("é"));
  await client.request("vm.set", { id, name_label: "new", auto_poweron: true });
  await client.until(() => client.copy.get(id)?.["name_label"] === "new");
  t.match(await client.request("xo.getAllObjects", { filter: { id } }), {
    [id]: { name_label: "new", auto_poweron: true },
  });
  const snapshot = (await client.request("vm.snapshot", { id })) as string;
  await client.until(() => client.copy.get(snapshot)?.type === "VM-snapshot");
}
