import t from "tap";
import type { Session } from "../src/auth/sessions/session.js";
import { createLoggers } from "../src/log/logger.js";
import { ObjectNotices } from "../src/objects/object-notices.js";
import { Rights } from "../src/rights/rights.js";
import { FakeCatalog } from "./catalog-of.js";
import { FakeClient } from "./fake-client.js";
import { FakeClock } from "./fake-clock.js";

/** A client that collects notifications, while it has space. */
class Listener extends FakeClient {
  hasRoom = true;
  readonly buffers: Buffer[] = [];

  constructor(rights?: Rights) {
    super();
    if (rights !== undefined) this.session = sessionOf(rights);
  }

  override trySend(message?: Buffer): boolean {
    if (this.hasRoom && message !== undefined) this.buffers.push(message);
    return this.hasRoom;
  }

  /** Such as `enter a b`. */
  get received(): string[] {
    return this.buffers.map((bytes) => {
      const { params } = JSON.parse(bytes.toString()) as {
        params: { type: string; items: object };
      };
      return [params.type, ...Object.keys(params.items)].join(" ");
    });
  }
}

function sessionOf(rights: Rights | undefined): Session {
  return {
    userId: "u",
    user: () =>
      rights && { id: "u", name: "u", isAdmin: false, groups: [], rights },
  };
}

function setUp() {
  const fake = new FakeCatalog();
  const clock = new FakeClock();
  const notices = new ObjectNotices({
    catalog: fake.catalog,
    inventory: fake.inventory,
    clock,
    logger: createLoggers({ level: "silent" }).named("x"),
  });
  return { fake, clock, notices };
}

const vm = (id: string, more: object = {}) => ({ id, type: "VM", ...more });
const gone = (id: string) => ({ gone: id, type: "VM" });
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Sees VMs that are tagged so. */
const taggedOnly = (tag: string) =>
  new Rights([
    {
      effect: "allow",
      resource: "VM",
      action: "read",
      selector: `tags:${tag}`,
    },
  ]);

t.test("new objects are sent whole, removed ones exit with 0", async (t) => {
  const { fake, notices } = setUp();
  const client = new Listener(Rights.all);
  notices.follow(client);
  fake.bring(vm("a", { name_label: "é" }), gone("b"));
  await settle();
  t.same(
    client.buffers.map((bytes) => JSON.parse(bytes.toString()) as unknown),
    [
      {
        jsonrpc: "2.0",
        method: "all",
        params: { type: "exit", items: { b: 0 } },
      },
      {
        jsonrpc: "2.0",
        method: "all",
        params: {
          type: "enter",
          items: { a: { id: "a", type: "VM", name_label: "é" } },
        },
      },
    ],
  );
});

t.test("all users with unrestricted rights get the same bytes", async (t) => {
  const { fake, notices } = setUp();
  const viewer = new Rights([
    { effect: "allow", resource: "*", action: "read" },
  ]);
  const clients = [
    new Listener(Rights.all),
    new Listener(viewer),
    new Listener(),
  ];
  for (const client of clients) notices.follow(client);
  fake.bring(vm("a"));
  await settle();
  t.equal(new Set(clients.map(({ buffers }) => buffers[0])).size, 1);
});

t.test(
  "a client that signs in and calls nothing is subscribed, unless it unsubscribes",
  async (t) => {
    const { fake, clock, notices } = setUp();
    const [eager, calm] = [new Listener(Rights.all), new Listener(Rights.all)];
    for (const client of [eager, calm]) notices.renew(client);
    t.notOk(notices.unsubscribe(calm));
    fake.bring(vm("a"));
    await settle();
    clock.pass(1_000);
    fake.bring(vm("b"));
    await settle();
    t.same(eager.received, ["enter b"]);
    t.same(calm.received, []);
    notices.follow(calm);
    notices.renew(calm);
    clock.pass(1_000);
    fake.bring(vm("c"));
    await settle();
    t.same(calm.received, [], "nor by listing objects");
    notices.subscribe(calm);
    fake.bring(vm("d"));
    await settle();
    t.same(calm.received, ["enter d"]);
  },
);

t.test(
  "a client that calls other methods is subscribed only when it lists objects",
  async (t) => {
    const { fake, clock, notices } = setUp();
    const page = new Listener(Rights.all);
    notices.onCall(page, "session.signInWithTicket");
    notices.renew(page);
    notices.onCall(page, "query.open");
    clock.pass(1_000);
    // The user's rights have changed.
    notices.renew(page);
    clock.pass(1_000);
    fake.bring(vm("a"));
    await settle();
    t.same(page.received, []);
    t.same(fake.followed, [], "no class is followed for it");
    notices.follow(page);
    fake.bring(vm("b"));
    await settle();
    t.same(page.received, ["enter b"]);
  },
);

t.test(
  "other classes than those listed are followed later, unless the client has left",
  async (t) => {
    const { fake, clock, notices } = setUp();
    const [script, client] = [new Listener(), new Listener()];
    notices.follow(script);
    clock.pass(2_999);
    t.same(fake.followed, []);
    notices.forget(script);
    clock.pass(1);
    t.same(fake.followed, [], "no client needs them");
    notices.follow(client);
    clock.pass(3_000);
    t.same([...new Set(fake.followed)], ["VM", "host", "SR"]);
    t.same([...new Set(fake.priorities)], ["background"]);
    fake.bring(vm("a"));
    await settle();
    t.same(client.received, ["enter a"]);
  },
);

t.test("a client that subscribes follows all classes at once", async (t) => {
  const { fake, notices } = setUp();
  notices.subscribe(new Listener());
  t.same([...new Set(fake.followed)], ["VM", "host", "SR"]);
  t.same([...new Set(fake.priorities)], ["normal"]);
});

t.test(
  "users are not notified of objects that they may not read",
  async (t) => {
    const { fake, notices } = setUp();
    const client = new Listener(taggedOnly("mine"));
    const blind = new Listener(Rights.none);
    notices.follow(client);
    notices.follow(blind);
    fake.bring(vm("a", { tags: ["mine"] }), vm("b"), {
      id: "h",
      type: "host",
      tags: ["mine"],
    });
    fake.bring(gone("b"));
    await settle();
    t.same(client.received, ["enter a"]);
    fake.bring(vm("a", { tags: [] }));
    await settle();
    fake.bring(vm("a", { tags: ["other"] }), gone("a"));
    await settle();
    t.same(
      client.received,
      ["enter a", "exit a"],
      "what is theirs no longer leaves",
    );
    t.same(blind.received, []);
  },
);

t.test(
  "objects that a listing has sent are reported when they are removed",
  async (t) => {
    const { fake, notices } = setUp();
    const client = new Listener(taggedOnly("mine"));
    notices.follow(client)!.noteSent("VM", "old");
    fake.bring(gone("old"), gone("never-seen"));
    await settle();
    t.same(client.received, ["exit old"]);
  },
);

t.test("a session that has ended gets no more notifications", async (t) => {
  const { fake, notices } = setUp();
  const client = new Listener(Rights.all);
  notices.follow(client);
  client.session = sessionOf(undefined);
  fake.bring(vm("a"));
  await settle();
  t.same(client.received, []);
  const late = new Listener();
  late.session = sessionOf(undefined);
  notices.follow(late);
  fake.bring(vm("b"));
  await settle();
  t.same(late.received, []);
});

t.test("a client that signs out gets no more notifications", async (t) => {
  const { fake, notices } = setUp();
  const client = new Listener(Rights.all);
  notices.follow(client);
  client.session = undefined;
  notices.renew(client);
  fake.bring(vm("a"));
  await settle();
  t.same(client.received, []);
});

t.test("a client whose rights change has to list again", async (t) => {
  const { notices } = setUp();
  const client = new Listener(Rights.all);
  notices.follow(client);
  notices.renew(client);
  t.notOk(client.isClosed, "the same rights");
  client.session = sessionOf(taggedOnly("mine"));
  notices.renew(client);
  t.ok(client.isClosed);
});

t.test(
  "a client that has listed nothing continues with other rights",
  async (t) => {
    const { fake, notices } = setUp();
    const client = new Listener(Rights.all);
    notices.subscribe(client);
    client.session = sessionOf(taggedOnly("mine"));
    notices.renew(client);
    t.notOk(client.isClosed);
    fake.bring(vm("a", { tags: ["mine"] }), vm("b"));
    await settle();
    t.same(client.received, ["enter a"]);
  },
);

t.test(
  "a client with a full buffer is notified later, in order and once",
  async (t) => {
    const { fake, clock, notices } = setUp();
    const client = new Listener(Rights.all);
    notices.follow(client);
    client.hasRoom = false;
    fake.bring(vm("a"));
    await settle();
    fake.bring(vm("b"), gone("a"));
    await settle();
    t.same(client.received, []);
    client.hasRoom = true;
    clock.pass(100);
    await settle();
    t.same(client.received, ["enter a", "exit a", "enter b"]);
    clock.pass(100);
    await settle();
    t.equal(client.received.length, 3);
  },
);

t.test("a subscriber that falls behind the feed is disconnected", async (t) => {
  const { fake, clock, notices } = setUp();
  const client = new Listener(Rights.all);
  notices.follow(client);
  client.hasRoom = false;
  fake.bring(vm("a"), vm("b"));
  await settle();
  fake.evicted = 2;
  clock.pass(100);
  await settle();
  t.ok(client.isClosed);
});

t.test(
  "changes are kept until the slowest subscriber has received them",
  async (t) => {
    const { fake, clock, notices } = setUp();
    const [quick, slow] = [new Listener(), new Listener()];
    for (const client of [quick, slow]) notices.follow(client);
    slow.hasRoom = false;
    for (const id of ["a", "b", "c"]) {
      fake.bring(vm(id));
      await settle();
    }
    t.same(quick.received, ["enter a", "enter b", "enter c"]);
    t.equal(fake.retained, 3);
    slow.hasRoom = true;
    clock.pass(100);
    await settle();
    t.same(slow.received, quick.received);
    fake.bring(vm("d"));
    t.equal(fake.retained, 1, "the last one");
    await settle();
    t.same(slow.received, [...quick.received]);
  },
);

t.test("many changes are sent in several notifications", async (t) => {
  const { fake, notices } = setUp();
  const client = new Listener(Rights.all);
  notices.follow(client);
  const ids = Array.from({ length: 1000 }, (_, i) => `vm${i}`);
  fake.bring(...ids.map((id) => vm(id)));
  await settle();
  t.equal(client.received.length, 4);
  t.same(
    client.received.flatMap((one) => one.split(" ").slice(1)),
    ids,
  );
});

t.test("a disconnected client leaves nothing behind", async (t) => {
  const { fake, clock, notices } = setUp();
  const client = new Listener(Rights.all);
  notices.renew(client);
  notices.forget(client);
  t.equal(clock.waiting, 0);
  notices.follow(client);
  t.ok(notices.forget(client));
  t.notOk(notices.forget(client));
  fake.bring(vm("a"));
  await settle();
  t.same(client.received, []);
  notices.stop();
});
