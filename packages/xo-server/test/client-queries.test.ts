import type { LiveRequest, LiveUpdate, Queries } from "@xo-server/inventory";
import t from "tap";
import { ClientQueries } from "../src/objects/client-queries.js";
import { FakeClock } from "./fake-clock.js";

const request: LiveRequest = { type: "VM", offset: 0, limit: 10 };

const terms = (name: string) => ({ name, readable: () => undefined });

function update(revision: number, more: Partial<LiveUpdate> = {}): LiveUpdate {
  return {
    revision,
    total: 1,
    offset: 0,
    objects: new Map(),
    patches: new Map(),
    digest: "0".repeat(16),
    ...more,
  };
}

/** Queries that say what the test says. */
class FakeQueries implements Pick<Queries, "live"> {
  readonly open = new Set<(update: LiveUpdate) => void>();
  readonly changes: Partial<LiveRequest>[] = [];
  opened = 0;
  error: Error | undefined;
  /** Comes while a query is being opened, after its first update. */
  next: LiveUpdate | undefined;

  async live(_: LiveRequest, listener: (update: LiveUpdate) => void) {
    if (this.error !== undefined) throw this.error;
    this.opened++;
    this.open.add(listener);
    const objects = new Map([["v1", Buffer.from('{"id":"v1"}')]]);
    listener(update(this.opened * 100, { objects }));
    if (this.next !== undefined) listener(this.next);
    return {
      change: async (news: Partial<LiveRequest>) => {
        this.changes.push(news);
      },
      close: () => void this.open.delete(listener),
    };
  }

  notify(one: LiveUpdate): void {
    for (const listener of this.open) listener(one);
  }
}

class FakeCompleteness {
  isComplete = true;
  readonly #listeners: (() => void)[] = [];

  onChange(listener: () => void) {
    this.#listeners.push(listener);
    return () => undefined;
  }

  set(isComplete: boolean): void {
    this.isComplete = isComplete;
    for (const listener of this.#listeners) listener();
  }
}

class FakeClient {
  readonly got: { params: Record<string, unknown> }[] = [];
  readonly buffers: Buffer[] = [];
  hasRoom = true;

  trySend(message: Buffer): boolean {
    if (!this.hasRoom) return false;
    this.buffers.push(message);
    this.got.push(JSON.parse(message.toString()) as never);
    return true;
  }
}

function setUp() {
  const queries = new FakeQueries();
  const clock = new FakeClock();
  const completeness = new FakeCompleteness();
  const readers = new ClientQueries({
    queries: queries as unknown as Queries,
    completeness,
    clock,
  });
  const client = new FakeClient();
  return { queries, clock, completeness, readers, client };
}

/** Promises that are ready have run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Resolves when the test says that the response was sent. */
function response() {
  let send = () => undefined as void;
  const answered = new Promise<void>((resolve) => (send = resolve));
  return { answered, send };
}

t.test("updates follow the response", async (t) => {
  const { queries, readers, client } = setUp();
  queries.next = update(101);
  const { answered, send } = response();
  const named = { ...terms("q"), answered };
  const first = await readers.open(client, named, request);
  queries.notify(update(102));
  t.match(JSON.parse(first.toString()), { revision: 100 });
  await settle();
  t.same(client.got, []);
  send();
  await settle();
  queries.notify(update(103));
  const revisions = client.got.map(({ params }) => params["revision"]);
  t.same(revisions, [101, 102, 103]);
});

t.test(
  "a late response is followed by a reset, not by all updates",
  async (t) => {
    const { queries, readers, client } = setUp();
    const { answered, send } = response();
    await readers.open(client, { ...terms("q"), answered }, request);
    for (let i = 1; i <= 101; i++) queries.notify(update(100 + i));
    await settle();
    t.same(client.got, []);
    send();
    await settle();
    t.match(client.got, [{ params: { revision: 200, reset: true } }]);
    t.equal(queries.open.size, 1, "the first query is closed");
  },
);

t.test("updates follow a reset", async (t) => {
  const { queries, clock, readers, client } = setUp();
  await readers.open(client, terms("q"), request);
  await settle();
  client.hasRoom = false;
  queries.notify(update(101));
  client.hasRoom = true;
  queries.next = update(201);
  clock.pass(1_000);
  await settle();
  t.match(client.got, [
    { params: { revision: 200, reset: true } },
    { params: { revision: 201, reset: undefined } },
  ]);
});

t.test(
  "the response of an opening is complete, notifications have differences",
  async (t) => {
    const { queries, readers, client } = setUp();
    const first = await readers.open(client, terms("vms"), request);
    await settle();
    t.same(JSON.parse(first.toString()), {
      revision: 100,
      total: 1,
      offset: 0,
      digest: "0".repeat(16),
      objects: { v1: { id: "v1" } },
      patches: {},
    });
    const patches = new Map([["v1", Buffer.from('{"a":"é"}')]]);
    const splice = { at: 0, remove: 1, insert: ["v2"] };
    queries.notify(update(101, { patches, splice }));
    t.match(client.got, [
      {
        jsonrpc: "2.0",
        method: "query",
        params: {
          name: "vms",
          revision: 101,
          splice,
          patches: { v1: { a: "é" } },
        },
      },
    ]);
  },
);

t.test("a live query reports whether its result is complete", async (t) => {
  const { queries, clock, completeness, readers, client } = setUp();
  completeness.set(false);
  const first = await readers.open(client, terms("vms"), request);
  await settle();
  t.match(JSON.parse(first.toString()), { complete: false });
  queries.notify(update(101));
  t.notOk("complete" in client.got[0]!.params, "it has not changed");
  completeness.set(true);
  t.match(client.got[1], {
    params: { name: "vms", revision: 101, complete: true, objects: {} },
  });
  completeness.set(true);
  t.equal(client.got.length, 2, "once");
  completeness.set(false);
  t.match(client.got[2], { params: { complete: false } });

  client.hasRoom = false;
  queries.notify(update(102));
  client.hasRoom = true;
  clock.pass(1000);
  await settle();
  t.match(client.got[3], { params: { reset: true, complete: false } });
  const next = await readers.open(client, terms("other"), request);
  await settle();
  completeness.set(true);
  t.match(JSON.parse(next.toString()), { complete: false });
  t.same(
    client.got
      .slice(4)
      .map(({ params }) => [params["name"], params["complete"]]),
    [
      ["vms", true],
      ["other", true],
    ],
    "every query of the client",
  );
});

t.test("readers of the same update get the same bytes", async (t) => {
  const { queries, readers, client } = setUp();
  const other = new FakeClient();
  await readers.open(client, terms("vms"), request);
  await settle();
  await readers.open(other, terms("vms"), request);
  await settle();
  queries.notify(update(101));
  t.equal(client.buffers[0], other.buffers[0]);
});

t.test(
  "a subscriber that does not read costs nothing, and gets a new snapshot later",
  async (t) => {
    const { queries, clock, readers, client } = setUp();
    await readers.open(client, terms("vms"), request);
    await settle();
    client.hasRoom = false;
    queries.notify(update(101));
    t.equal(queries.open.size, 0, "the query is closed");
    clock.pass(1000);
    await settle();
    t.equal(client.got.length, 0, "still no room");
    client.hasRoom = true;
    clock.pass(1000);
    await settle();
    t.match(client.got, [
      {
        params: {
          name: "vms",
          reset: true,
          revision: 300,
          objects: { v1: {} },
        },
      },
    ]);
    queries.notify(update(301));
    t.match(client.got[1], { params: { revision: 301 } });
    t.notOk(client.got[1]!.params["reset"]);
  },
);

t.test("a query that cannot be restarted is retried", async (t) => {
  const { queries, clock, readers, client } = setUp();
  await readers.open(client, terms("vms"), request);
  await settle();
  client.hasRoom = false;
  queries.notify(update(101));
  client.hasRoom = true;
  queries.error = new Error("too many");
  clock.pass(1000);
  await settle();
  queries.error = undefined;
  clock.pass(1000);
  await settle();
  t.match(client.got, [{ params: { reset: true } }]);
});

t.test("a query is changed and closed by its name", async (t) => {
  const { queries, readers, client } = setUp();
  await readers.open(client, terms("vms"), request);
  await settle();
  await readers.change(client, "vms", { offset: 10 });
  t.same(queries.changes, [{ offset: 10 }]);
  t.equal(readers.close(client, "vms"), true);
  t.equal(readers.close(client, "vms"), false);
  t.equal(queries.open.size, 0);
  await t.rejects(readers.change(client, "vms", {}), {
    code: "NO_SUCH_OBJECT",
  });
});

t.test("opening under a name in use closes the previous query", async (t) => {
  const { queries, readers, client } = setUp();
  await readers.open(client, terms("vms"), request);
  await settle();
  await readers.open(client, terms("vms"), request);
  await settle();
  t.equal(queries.open.size, 1);
});

t.test(
  "a client has at most 64 queries, and none after it disconnects",
  async (t) => {
    const { queries, readers, client } = setUp();
    for (let i = 0; i < 64; i++)
      await readers.open(client, terms(`q${i}`), request);
    await settle();
    await t.rejects(readers.open(client, terms("one more"), request), {
      code: "INVALID_PARAMETERS",
    });
    readers.forget(client);
    t.equal(queries.open.size, 0);
  },
);

t.test("a query that fails to open leaves nothing behind", async (t) => {
  const { queries, readers, client } = setUp();
  queries.error = new Error("broken filter");
  await t.rejects(readers.open(client, terms("vms"), request), /broken filter/);
  t.equal(readers.close(client, "vms"), false);
});
