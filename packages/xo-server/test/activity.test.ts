import type { Steps } from "@xo-server/inventory";
import { compileFilter, parseFilter } from "@xo-server/inventory";
import t, { type Test } from "tap";
import { Activity } from "../src/activity/activity.js";
import type { ActivityEntry } from "../src/activity/activity-entry.js";
import { ActivityListeners } from "../src/activity/activity-listeners.js";
import type {
  ActivityQuery,
  ActivityReader,
} from "../src/activity/activity-list.js";
import type { CallContext } from "../src/operations/operation.js";
import { FakeClock } from "./fake-clock.js";
import { FakeClient } from "./fake-client.js";
import { MiniCatalog, type MiniObject } from "./mini-catalog.js";

const admin: ActivityReader = {
  readable: () => undefined,
  userId: "root",
  isAdmin: true,
};
const readerOf = (filter: string): ActivityReader => ({
  userId: "u",
  isAdmin: false,
  readable: (type) =>
    type === "VM" ? compileFilter(parseFilter(filter)) : () => false,
});
const vm = (id: string, more: object = {}): MiniObject => ({
  id,
  type: "VM",
  name_label: `vm ${id}`,
  power_state: "Halted",
  $pool: "P",
  $container: "P",
  ...more,
});
const running = (host: string) => ({
  power_state: "Running",
  $container: host,
});
const host = (id: string, more: object = {}): MiniObject => ({
  id,
  type: "host",
  name_label: `host ${id}`,
  $pool: "P",
  enabled: true,
  power_state: "Running",
  ...more,
});
const ofType = (type: string, id: string, more: object = {}): MiniObject => ({
  id,
  type,
  name_label: `${type} ${id}`,
  $pool: "P",
  ...more,
});

const RETENTION_MS = 1_000;

/** A pool with two hosts and two VMs, that is followed. */
async function startBench(t: Test, { most = 100, isLive = true } = {}) {
  const clock = new FakeClock();
  const objects = new MiniCatalog("pool", "host", "VM", "SR", "network", "VDI");
  objects.put(ofType("pool", "P"), host("h1"), host("h2"));
  objects.put(vm("a"), vm("b", running("h1")));
  const states = new Map([["p", "listing"]]);
  let notifyStatus: (pool: string) => void = () => undefined;
  let changes = 0;
  const activity = new Activity({
    catalog: objects.catalog,
    inventory: {
      pools: ["p"],
      mirrorStatus: (pool) => ({ state: states.get(pool) }) as never,
      onMirrorStatus: (listener) => {
        notifyStatus = listener;
        return () => undefined;
      },
      runInSlices: async (_lane: string, steps: Steps) => {
        while (steps.next().done !== true);
      },
    },
    clock,
    maxEntries: most,
    retentionMs: RETENTION_MS,
    logger: { warn: (message) => t.fail(message) },
    onChange: () => changes++,
  });
  await activity.start();
  t.teardown(() => {
    activity.stop();
  });
  const enter = async (state: string) => {
    states.set("p", state);
    notifyStatus("p");
    // All objects are read without a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
  };
  if (isLive) {
    await enter("watching");
    // The entry of the connection expires.
    clock.pass(RETENTION_MS + 1);
    changes = 0;
  }
  const list = async (
    question: Partial<ActivityQuery> = {},
    reader = admin,
  ): Promise<ActivityEntry[]> =>
    (await activity.list({ limit: 100, ...question }, reader)).entries;
  return {
    activity,
    clock,
    objects,
    list,
    changes: () => changes,
    enter,
    /** `kind name`, the oldest first. */
    kinds: async (question: Partial<ActivityQuery> = {}, reader = admin) =>
      (await list(question, reader))
        .map(({ kind, objectId }) => `${kind} ${objectId}`)
        .toReversed(),
  };
}

t.test("objects that exist at the start are not events", async (t) => {
  const { kinds } = await startBench(t);
  t.same(await kinds(), []);
});

t.test("the outcome for a VM is reported", async (t) => {
  const { objects, list, kinds, changes } = await startBench(t);
  objects.put(vm("a", running("h1")));
  objects.put(vm("a", running("h2")));
  objects.put(vm("a", { ...running("h2"), power_state: "Paused" }));
  objects.put(vm("a", running("h2")));
  objects.put(vm("a", { power_state: "Suspended" }));
  objects.put(vm("a", running("h2")));
  objects.put(vm("a", { ...running("h2"), name_label: "web" }));
  objects.put(vm("a", { name_label: "web" }));
  objects.put(vm("a", { name_label: "web", $container: "h1" }));
  objects.put(vm("c"));
  objects.remove("c");
  t.same(await kinds(), [
    "vm.started a",
    "vm.moved a",
    "vm.paused a",
    "vm.resumed a",
    "vm.suspended a",
    "vm.resumed a",
    "vm.renamed a",
    "vm.stopped a",
    "vm.created c",
    "vm.removed c",
  ]);
  t.equal(changes(), 10);
  const [started, moved] = (await list()).toReversed();
  t.match(started, { name: "vm a", pool: "P", to: { id: "h1" } });
  t.match(moved, {
    from: { id: "h1", type: "host", name: "host h1" },
    to: { id: "h2", name: "host h2" },
  });
  t.match(await list({ kinds: ["vm.renamed", "vm.removed"] }), [
    { kind: "vm.removed", name: "vm c" },
    { kind: "vm.renamed", was: "vm a", name: "web" },
  ]);
});

t.test("likewise the end of the others", async (t) => {
  const { objects, list, kinds } = await startBench(t);
  const snapshot = ofType("VM-snapshot", "s", { $snapshot_of: "a" });
  objects.put(snapshot);
  objects.remove("s");
  objects.put(host("h1", { enabled: false }));
  objects.put(host("h1", { enabled: false, power_state: "Halted" }));
  objects.put(host("h1"));
  for (const type of ["SR", "network", "VDI"]) {
    objects.put(ofType(type, "x"));
    objects.remove("x");
  }
  objects.put(ofType("VDI-snapshot", "y"), ofType("VM-controller", "z"));
  objects.put(ofType("pool", "P", { name_label: "lab" }));
  t.same(await kinds(), [
    "snapshot.created s",
    "snapshot.removed s",
    "host.disabled h1",
    "host.lost h1",
    "host.back h1",
    "host.enabled h1",
    "sr.created x",
    "sr.removed x",
    "network.created x",
    "network.removed x",
    "vdi.created x",
    "vdi.removed x",
    "pool.renamed P",
  ]);
  t.match(await list({ object: "a" }), [
    { kind: "snapshot.removed", of: { id: "a", type: "VM" } },
    { kind: "snapshot.created", of: { name: "vm a" } },
  ]);
});

t.test("a VM converted to a template is no longer a VM", async (t) => {
  const { objects, kinds } = await startBench(t);
  objects.put(vm("a", { type: "VM-template" }));
  objects.put(vm("a"));
  objects.put(vm("a", { type: "VM-controller" }));
  t.same(await kinds(), ["template.created a", "vm.created a", "vm.removed a"]);
});

t.test("a listing is not activity, a lost pool is", async (t) => {
  const { objects, kinds, enter } = await startBench(t);
  await enter("re-listing");
  objects.put(vm("a", running("h1")), vm("new"));
  objects.remove("b");
  await enter("watching");
  t.same(await kinds(), [], "events that were lost are made up for");
  await enter("backing-off");
  await enter("connecting");
  objects.put(vm("a"));
  await enter("re-listing");
  await enter("watching");
  objects.put(vm("a", running("h2")));
  t.same(await kinds(), ["pool.lost P", "pool.connected P", "vm.started a"]);
});

t.test(
  "objects are read when their pool is live, not while it is loaded",
  async (t) => {
    const { objects, kinds, enter } = await startBench(t, { isLive: false });
    let reads = 0;
    const counted = {
      ...vm("a"),
      get power_state() {
        reads++;
        return "Halted";
      },
    };
    objects.put(counted);
    objects.put(counted);
    t.equal(reads, 0);
    await enter("watching");
    t.equal(reads, 1);
    objects.put(vm("a", running("h1")), vm("c"));
    t.same(await kinds(), ["pool.connected P", "vm.started a", "vm.created c"]);
  },
);

t.test("the journal is bounded by number and age", async (t) => {
  const { objects, activity, list, clock } = await startBench(t, { most: 16 });
  const before = activity.journal.written;
  for (let i = 0; i < 100; i++) {
    objects.put(vm("a", { name_label: `n${i}` }));
    t.ok(activity.journal.size <= 16, "never more");
  }
  const { journal } = activity;
  t.equal(journal.written, before + 100);
  t.ok(journal.size >= 15);
  t.equal((await list())[0]!.name, "n99");
  clock.pass(900);
  objects.put(vm("a", { name_label: "late" }));
  clock.pass(200);
  t.same(
    (await list()).map(({ name }) => name),
    ["late"],
  );
});

t.test("it is read in windows, and only new lines", async (t) => {
  const { objects, activity, list } = await startBench(t);
  for (let i = 0; i < 25; i++) objects.put(vm("a", { name_label: `n${i}` }));
  const names: string[] = [];
  let before: number | undefined;
  do {
    const question = { limit: 10, ...(before === undefined ? {} : { before }) };
    const { entries, hasMore } = await activity.list(question, admin);
    names.push(...entries.map(({ name }) => name));
    before = hasMore ? entries.at(-1)!.seq : undefined;
  } while (before !== undefined);
  t.same(
    names,
    Array.from({ length: 25 }, (_, i) => `n${24 - i}`),
  );
  const newest = (await list())[0]!;
  t.same(await list({ after: newest.seq }), []);
  objects.put(vm("b"));
  t.equal((await list({ after: newest.seq })).length, 1);
  t.same(await list({ since: newest.time + 1 }), []);
  t.same(await list({ pool: "other" }), []);
});

t.test("it is shown to users who may read the object", async (t) => {
  const { objects, list, kinds } = await startBench(t);
  const hers = readerOf("tags:hers");
  objects.put(vm("a", { ...running("h1"), tags: ["hers"] }));
  objects.put(vm("b"));
  objects.put(ofType("VM-snapshot", "s", { $snapshot_of: "a" }));
  objects.put(ofType("SR", "x"));
  t.same(await kinds({}, hers), ["vm.started a"]);
  t.equal((await list({}, hers))[0]!.to, undefined, "nor the host's name");
  t.match((await list({ object: "a" }, admin)).at(-1)!.to, { id: "h1" });
  objects.remove("a");
  t.same(
    await kinds({}, hers),
    [],
    "deleted objects are for those who see all",
  );
  t.equal((await list()).length, 5);
});

t.test(
  "clients of a connection are shown to admins and to themselves",
  async (t) => {
    const { activity, objects, list, clock } = await startBench(t);
    const context = (id: string) =>
      ({ user: { id, name: id, isAdmin: false } }) as CallContext;
    const permission = {
      action: "operate:use" as const,
      resource: "VM",
      id: (params: { id: string }) => params.id,
    };
    const begin = (name: string, params: object, who = "u") =>
      activity.begin({
        operation: { name, permission },
        params,
        context: context(who),
      });
    const by = async (reader = admin) =>
      (await list({}, reader))[0]!.by?.operation;

    const end = begin("vm.start", { id: "a" });
    objects.put(vm("a", running("h1")));
    t.match((await list())[0]!.by, { userId: "u", operation: "vm.start" });
    t.equal(await by({ ...readerOf("id:a"), userId: "u" }), "vm.start");
    t.equal(await by({ ...readerOf("id:a"), userId: "v" }), undefined);
    end(true);
    clock.pass(500);
    objects.put(vm("a"));
    t.equal(await by(), "vm.start", "of one of many the pool reports later");
    clock.pass(10_000);
    objects.put(vm("a", running("h1")));
    t.equal(await by(), undefined);

    const endSet = begin("vm.set", { id: "a" });
    objects.put(vm("a"));
    t.equal(await by(), undefined, "who writes a name does not stop it");
    objects.put(vm("a", { name_label: "web" }));
    t.equal(await by(), "vm.set");
    endSet();

    const endSnapshot = begin("vm.snapshot", { id: "a" });
    objects.put(ofType("VM-snapshot", "s", { $snapshot_of: "a" }));
    t.equal(await by(), "vm.snapshot");
    endSnapshot("s");

    const endCreate = begin("vm.create", { id: "some template" });
    objects.put(vm("made"));
    t.equal(await by(), undefined);
    endCreate("made");
    t.equal(await by(), "vm.create", "what it has made is known at its end");
  },
);

t.test("many changes are one notification to a listener", async (t) => {
  const clock = new FakeClock();
  const listeners = new ActivityListeners(clock);
  const client = new FakeClient();
  const sent: unknown[] = [];
  let hasRoom = true;
  client.trySend = (message?: Buffer) => {
    if (hasRoom) sent.push(JSON.parse(String(message)));
    return hasRoom;
  };
  listeners.notify();
  listeners.add(client);
  for (let i = 0; i < 5; i++) listeners.notify();
  clock.pass(600);
  t.same(sent, [{ jsonrpc: "2.0", method: "activity", params: {} }]);
  hasRoom = false;
  listeners.notify();
  clock.pass(600);
  hasRoom = true;
  clock.pass(600);
  t.equal(sent.length, 2, "a client that did not read is notified later");
  t.equal(listeners.delete(client), true);
  t.equal(listeners.delete(client), false);
  listeners.notify();
  t.equal(clock.waiting, 0);
});
