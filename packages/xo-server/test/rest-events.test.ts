import t, { type Test } from "tap";
import { FakeClock } from "./fake-clock.js";
import { FakeTaskStore } from "./fake-task-store.js";
import { Tasks } from "../src/tasks/tasks.js";
import { FakeObjects } from "./fake-objects.js";
import { as, startRestServer, type RestServer } from "./rest-server.js";

interface Event {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads a stream event by event. */
class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #text = "";

  constructor(answer: Response) {
    this.#reader = answer.body!.getReader();
  }

  async next(): Promise<Event> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const [event, data] = this.#text.slice(0, end).split("\n");
        this.#text = this.#text.slice(end + 2);
        return {
          event: event!.replace("event: ", ""),
          data: JSON.parse(data!.replace("data: ", "")) as Event["data"],
        };
      }
      const { value, done } = await this.#reader.read();
      if (done) throw new Error("the stream has ended");
      this.#text += Buffer.from(value).toString();
    }
  }

  async ended(): Promise<void> {
    while (!(await this.#reader.read()).done);
  }
}

async function open(t: Test, { get }: RestServer, way: RequestInit = {}) {
  const abort = new AbortController();
  t.teardown(() => {
    abort.abort();
  });
  const answer = await get("/events", { ...way, signal: abort.signal });
  t.equal(answer.headers.get("content-type"), "text/event-stream");
  t.match(answer.headers.get("content-security-policy"), /default-src/);
  const reader = new EventReader(answer);
  const { event, data } = await reader.next();
  t.equal(event, "init");
  const path = `/events/${String(data["id"])}/subscriptions`;
  const send = (method: string, tail = "", body?: object) =>
    get(path + tail, {
      method,
      headers: {
        ...(way.headers as object),
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    reader,
    send,
    subscribe: (body: object) => send("POST", "", body),
  };
}

t.test("changes of subscribed objects are sent as they happen", async (t) => {
  const objects = new FakeObjects();
  const server = await startRestServer(t, { objects });
  const { reader, subscribe, send } = await open(t, server);
  const answer = await subscribe({ collection: "VM" });
  t.equal(answer.status, 201);
  t.same(await answer.json(), { id: "VM" });
  objects.set({ id: "h", type: "host" });
  objects.set({ id: "v", type: "VM", n: 1 });
  objects.set({ id: "v", type: "VM", n: 2 });
  objects.remove("v");
  t.same(await reader.next(), {
    event: "add",
    data: { id: "v", type: "VM", n: 1, $subscription: "VM" },
  });
  t.match(await reader.next(), { event: "update", data: { n: 2 } });
  t.same(await reader.next(), {
    event: "remove",
    data: { id: "v", type: "VM", $subscription: "VM" },
  });
  t.equal((await send("DELETE", "/VM")).status, 204);
  t.equal((await send("DELETE", "/VM")).status, 404);
  await subscribe({ collection: "host" });
  objects.set({ id: "w", type: "VM" });
  objects.set({ id: "h", type: "host", n: 3 });
  t.match(await reader.next(), { event: "update", data: { id: "h" } });
});

t.test("data begin with $subscription, as in Xen Orchestra", async (t) => {
  const objects = new FakeObjects();
  const server = await startRestServer(t, { objects });
  for (const fields of ["*", ["id", "n"]]) {
    const { reader, subscribe } = await open(t, server);
    await subscribe({ collection: "VM", fields });
    objects.set({ id: "v", type: "VM", n: 1 });
    objects.remove("v");
    for (const event of ["add", "remove"]) {
      const next = await reader.next();
      t.equal(next.event, event);
      t.equal(Object.keys(next.data)[0], "$subscription");
    }
  }
});

t.test(
  "only the selected fields of an object are sent, and only when they change",
  async (t) => {
    const objects = new FakeObjects([
      { id: "v", type: "VM", a: 1, b: 1, c: 1 },
    ]);
    const { reader, subscribe } = await open(
      t,
      await startRestServer(t, { objects }),
    );
    await subscribe({ collection: "VM", fields: ["id", "b"] });
    objects.set({ id: "v", type: "VM", a: 2, b: 1, c: 1 }, { a: 2 });
    objects.set({ id: "v", type: "VM", a: 2, b: 2, c: 1 }, { b: 2 });
    objects.set({ id: "v", type: "VM", a: 2, b: 2, c: 2 });
    const data = { id: "v", b: 2, $subscription: "VM" };
    t.same(await reader.next(), { event: "update", data });
    t.same(
      await reader.next(),
      { event: "update", data },
      "what changed is not known",
    );
  },
);

t.test("alarms are a collection", async (t) => {
  const objects = new FakeObjects([{ id: "v", type: "VM" }]);
  const { reader, subscribe } = await open(
    t,
    await startRestServer(t, { objects }),
  );
  await subscribe({ collection: "alarm" });
  await subscribe({ collection: "message" });
  objects.set({ id: "m", type: "message", name: "VM_STARTED", time: 1 });
  objects.set({
    id: "a",
    type: "message",
    name: "ALARM",
    $object: "v",
    time: 1,
  });
  objects.remove("a");
  t.match(await reader.next(), { data: { $subscription: "message", id: "m" } });
  t.match(await reader.next(), {
    event: "add",
    data: {
      $subscription: "alarm",
      object: { type: "VM", href: "/rest/v0/vms/v" },
      time: 1000,
    },
  });
  t.match(await reader.next(), {
    event: "remove",
    data: { $subscription: "alarm" },
  });
});

t.test(
  "users are not notified of objects that they may not read",
  async (t) => {
    const on = {
      effect: "allow",
      resource: "VM",
      action: "read",
      selector: "on?",
    } as const;
    const objects = new FakeObjects([{ id: "seen", type: "VM", on: true }]);
    const server = await startRestServer(t, {
      objects,
      users: { some: [on] },
    });
    const { reader, subscribe } = await open(t, server, as("some"));
    await subscribe({ collection: "VM" });
    await subscribe({ collection: "host" });
    objects.set({ id: "h", type: "host" });
    objects.set({ id: "v", type: "VM", on: false });
    objects.set({ id: "v", type: "VM", on: true });
    objects.set({ id: "v", type: "VM", on: false });
    objects.set({ id: "v", type: "VM", on: false, n: 1 });
    objects.remove("v");
    objects.remove("seen");
    t.match(await reader.next(), { event: "add", data: { id: "v", on: true } });
    t.match(await reader.next(), { event: "remove", data: { id: "v" } });
    t.match(await reader.next(), { event: "remove", data: { id: "seen" } });
  },
);

t.test(
  "a stream belongs to its reader and has only known collections",
  async (t) => {
    const server = await startRestServer(t, { users: { some: [] } });
    const { subscribe } = await open(t, server, as("some"));
    for (const body of [
      {},
      { collection: "task" },
      { collection: "N0" },
      { collection: "VM", fields: "id" },
    ])
      t.equal((await subscribe(body)).status, 422, JSON.stringify(body));
    const mine = await open(t, server, as("some"));
    const path = (await mine.send("DELETE", "/x")).url.replace("/x", "");
    const init = { method: "POST", body: '{"collection":"VM"}' };
    const headers = {
      cookie: "token=admin",
      "content-type": "application/json",
    };
    t.equal((await fetch(path, { ...init, headers })).status, 404);
  },
);

t.test("a quiet stream is pinged", async (t) => {
  const clock = new FakeClock();
  const { reader } = await open(t, await startRestServer(t, { clock }));
  clock.pass(30_000);
  t.same(await reader.next(), { event: "ping", data: { ping: clock.now() } });
  clock.pass(30_000);
  t.equal((await reader.next()).event, "ping");
});

t.test("a client that does not read is disconnected", async (t) => {
  const objects = new FakeObjects();
  const yaml = "http: { maxBufferedBytes: 1000 }";
  const { reader, subscribe } = await open(
    t,
    await startRestServer(t, { objects, yaml }),
  );
  await subscribe({ collection: "VM" });
  // More than what loopback's buffers take.
  objects.set({ id: "v", type: "VM", text: "x".repeat(32 << 20) });
  await t.rejects(reader.ended());
});

t.test("tasks of the server are sent as a collection", async (t) => {
  const clock = new FakeClock();
  const store = new FakeTaskStore();
  const logger = { warn: () => undefined };
  const tasks = new Tasks({ store, owner: "here", clock, logger });
  const begin = async (userId: string) => {
    let end!: (result: unknown) => void;
    const task = tasks.prepare({
      name: "n",
      objectType: "VM",
      objectId: "v",
      userId,
      params: {},
    });
    await tasks.follow(task, new Promise((resolve) => (end = resolve)));
    return { id: task.id, work: task.node, end };
  };
  const server = await startRestServer(t, { users: { some: [] }, tasks });
  const seen = await begin("id-of-some");
  const { reader, subscribe, send } = await open(t, server, as("some"));
  const subscription = { collection: "task", fields: ["id", "status"] };
  t.equal((await subscribe(subscription)).status, 201);
  await begin("id-of-admin");
  const { id, work, end } = await begin("id-of-some");
  work.progress(0.5);
  end("x");
  seen.end("y");
  const next = async () => {
    const { event, data } = await reader.next();
    return [event, data["id"], data["status"], data["$subscription"]];
  };
  t.same(await next(), ["add", id, "pending", "task"]);
  t.same(await next(), ["update", id, "success", "task"]);
  t.same(await next(), ["update", seen.id, "success", "task"]);
  await tasks.deleteEnded({ id: "a", isAdmin: true });
  t.equal((await reader.next()).event, "remove");
  t.equal((await send("DELETE", "/task")).status, 204);
  t.equal((await send("DELETE", "/task")).status, 404);
});
