import t from "tap";
import { isLost } from "../src/api/is-lost.js";
import { ServerConnection } from "../src/api/server-connection.js";
import { StatusFeed, type StatusView } from "../src/api/status-feed.js";
import { FakeClock } from "./fake-clock.js";
import { FakeServer, settled } from "./fake-server.js";

const empty = { server: {}, pools: {}, totals: { objects: 0 } };

/** @param isReachable whether the server answers outside of the connection */
function started(isReachable?: () => Promise<boolean>) {
  const clock = new FakeClock();
  const server = new FakeServer();
  const views: StatusView[] = [];
  const connection = new ServerConnection({
    url: "ws://server/api/",
    openSocket: server.openSocket,
    clock,
    random: () => 1,
  });
  new StatusFeed(connection, {
    clock,
    ...(isReachable && { isReachable }),
    onView: (view) => views.push(view),
  });
  connection.start();
  const view = () => views.at(-1)!;
  return { connection, clock, server, views, view };
}

/** Connected, with the status of revision 7. */
async function live(isReachable?: () => Promise<boolean>) {
  const all = started(isReachable);
  all.server.last.accept();
  all.server.last.answer({ revision: 7, status: empty });
  await settled();
  all.clock.pass(250);
  return all;
}

function objects(view: StatusView): number | undefined {
  return view.status?.totals.objects;
}

t.test(
  "it subscribes when it is connected, and shows the snapshot",
  async (t) => {
    const { server, view } = await live();
    t.match(server.last.requests, [{ method: "status.subscribe", params: {} }]);
    t.equal(view().live, true);
    t.equal(objects(view()), 0);
  },
);

t.test(
  "patches that fit are applied, and unchanged parts keep their identity",
  async (t) => {
    const { server, clock, view } = await live();
    const { server: before } = view().status!;
    const patch = { totals: { objects: 5 } };
    server.last.notify("status", { revision: 8, base: 7, patch });
    server.last.notify("status", {
      revision: 9,
      base: 8,
      patch: { pools: { a: { id: "a" } } },
    });
    clock.pass(250);
    t.equal(objects(view()), 5);
    t.same(Object.keys(view().status!.pools), ["a"]);
    t.equal(view().status!.server, before);
  },
);

t.test("a patch that does not fit requests a new snapshot, once", async (t) => {
  const { server, clock, view } = await live();
  const patch = { totals: { objects: 5 } };
  server.last.notify("status", { revision: 12, base: 11, patch });
  server.last.notify("status", { revision: 13, base: 12, patch });
  t.equal(server.last.requests.length, 2);
  server.last.answer({
    revision: 13,
    status: { ...empty, totals: { objects: 6 } },
  });
  await settled();
  clock.pass(250);
  t.equal(objects(view()), 6);
  server.last.notify("status", { revision: 14, base: 13, patch });
  clock.pass(250);
  t.equal(objects(view()), 5, "and patches fit again");
});

t.test("a whole snapshot may arrive alone", async (t) => {
  const { server, clock, view } = await live();
  server.last.notify("status", {
    revision: 3,
    status: { ...empty, totals: { objects: 1 } },
  });
  clock.pass(250);
  t.equal(objects(view()), 1);
});

t.test(
  "it emits at most four views a second, and always the last one",
  async (t) => {
    const { server, clock, views, view } = await live();
    const before = views.length;
    for (let i = 0; i < 100; i += 1) {
      const patch = { totals: { objects: i + 1 } };
      server.last.notify("status", { revision: 8 + i, base: 7 + i, patch });
      clock.pass(10);
    }
    clock.pass(250);
    t.ok(views.length - before <= 5, `${views.length - before} in 1.25 s`);
    t.equal(objects(view()), 100);
  },
);

t.test(
  "without the server the last status stays, marked as not live",
  async (t) => {
    const { server, clock, view } = await live();
    const { receivedAt } = view();
    server.last.breakOff();
    t.equal(view().live, false);
    t.equal(view().connection.name, "waiting");
    t.equal(objects(view()), 0);
    clock.pass(500);
    server.last.accept();
    t.equal(view().live, false, "connected is not yet live");
    t.equal(view().receivedAt, receivedAt);
    server.last.answer({
      revision: 1,
      status: { ...empty, totals: { objects: 9 } },
    });
    await settled();
    clock.pass(250);
    t.equal(view().live, true);
    t.equal(objects(view()), 9);
  },
);

t.test(
  "a silent server is pinged, and disconnected if it stays silent",
  async (t) => {
    const { server, clock, view } = await live();
    clock.pass(14_800);
    t.equal(server.last.requests.length, 2, "asked after 15 s");
    server.last.answer({ revision: 7, status: empty });
    await settled();
    clock.pass(15_000);
    t.equal(server.last.requests.length, 3, "and again");
    clock.pass(10_000);
    await settled();
    t.equal(view().connection.name, "waiting");
    t.equal(server.connections[0]!.closedByClient, true);
  },
);

/** Connected, with a large answer on a slow network, in front of all other messages. */
async function withLargeAnswer(isReachable: () => Promise<boolean>) {
  const all = await live(isReachable);
  let answered: unknown;
  void all.connection.call("query.columns").then(
    (result) => (answered = result),
    () => undefined,
  );
  const { id } = all.server.last.requests.at(-1)!;
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      all.clock.pass(1_000);
      await settled();
    }
  };
  return { ...all, pass, largeId: id, answered: () => answered };
}

t.test(
  "a large answer on a slow network does not count as a lost connection",
  async (t) => {
    const { server, pass, largeId, answered, view } = await withLargeAnswer(
      async () => true,
    );
    await pass(60_000);
    t.equal(view().connection.name, "open");
    t.equal(server.connections.length, 1);
    t.match(
      server.last.requests.map(({ method }) => method),
      ["status.subscribe", "query.columns", "status.subscribe"],
      "it asks once",
    );
    server.last.say({ jsonrpc: "2.0", id: largeId, result: "large" });
    server.last.answer({
      revision: 9,
      status: { ...empty, totals: { objects: 6 } },
    });
    await settled();
    await pass(1_000);
    t.equal(answered(), "large");
    t.equal(objects(view()), 6);
  },
);

t.test(
  "the connection is closed if the server is not reachable by other requests either",
  async (t) => {
    const { pass, server } = await withLargeAnswer(async () => false);
    await pass(24_000);
    t.equal(server.connections[0]!.closedByClient, false);
    await pass(2_000);
    t.equal(server.connections[0]!.closedByClient, true);
  },
);

t.test(
  "a connection that delivers nothing for two minutes is closed, also if the server is reachable",
  async (t) => {
    const { pass, server } = await withLargeAnswer(async () => true);
    await pass(110_000);
    t.equal(server.connections[0]!.closedByClient, false);
    await pass(20_000);
    t.equal(server.connections[0]!.closedByClient, true);
  },
);

t.test("without other calls a silent connection is closed", async (t) => {
  const { clock, view } = await live(async () => true);
  clock.pass(25_000);
  await settled();
  t.equal(view().connection.name, "waiting");
});

t.test(
  "a server that refuses sends the reason, and is tried again",
  async (t) => {
    const { server, clock, view } = started();
    server.last.accept();
    server.last.refuse(3, "not signed in");
    await settled();
    t.equal(view().refusal, "not signed in");
    t.equal(view().connection.name, "waiting");
    clock.pass(500);
    server.last.accept();
    server.last.answer({ revision: 1, status: empty });
    await settled();
    clock.pass(250);
    t.equal(view().refusal, undefined);
    t.equal(view().live, true);
  },
);

t.test(
  "a response that is not a status does not replace a status",
  async (t) => {
    for (const bad of [null, 5, {}, { revision: 8, status: { pools: [] } }]) {
      const { server, view } = await live();
      server.last.notify("status", bad);
      t.equal(objects(view()), 0);
      t.equal(view().connection.name, "waiting", JSON.stringify(bad));
    }
  },
);

t.test(
  "the server is lost from the disconnect until it is live again",
  async (t) => {
    const { server, clock, view } = await live();
    t.equal(isLost(view()), false);
    server.last.breakOff();
    t.equal(isLost(view()), true, "waiting");
    clock.pass(500);
    t.equal(isLost(view()), true, "connecting");
    server.last.accept();
    t.equal(isLost(view()), true, "connected, but nothing sent");
    server.last.answer({ revision: 1, status: empty });
    await settled();
    clock.pass(250);
    t.equal(isLost(view()), false);
  },
);

t.test("the first attempt is not a loss, a failed one is", async (t) => {
  const { server, clock, view } = started();
  t.equal(isLost(view()), false);
  server.last.breakOff();
  t.equal(isLost(view()), true);
  clock.pass(500);
  t.equal(isLost(view()), true, "while it tries again");
});
