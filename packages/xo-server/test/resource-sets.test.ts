import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { cloudConfigOperations } from "../src/methods/vm/cloud-config.js";
import { resourceSetOperations } from "../src/methods/auth/resource-set.js";
import { createLoggers } from "../src/log/logger.js";
import { createAudit } from "../src/operations/audit.js";
import type { HandlerContext } from "../src/operations/operation.js";
import { AuthenticatedUsers } from "../src/auth/users/authenticated-users.js";
import { ResourceSets } from "../src/resource-sets/resource-sets.js";
import { cheapCosts } from "./cheap-costs.js";
import { FakeClock } from "./fake-clock.js";
import { FakeObjects } from "./fake-objects.js";
import { createTestDispatcher } from "./test-dispatcher.js";

const GIB = 2 ** 30;

/** A VM of the set with a disk and a drive. */
const vmOf = (set: string) => [
  {
    id: "vm",
    type: "VM",
    resourceSet: set,
    CPUs: { number: 2, max: 8 },
    memory: { dynamic: [GIB, 2 * GIB] },
    $VBDs: ["vbd", "cd"],
  },
  { id: "vbd", type: "VBD", VDI: "vdi", is_cd_drive: false },
  { id: "cd", type: "VBD", VDI: "iso", is_cd_drive: true },
  { id: "vdi", type: "VDI", size: 10 * GIB },
  { id: "iso", type: "VDI", size: 5 * GIB },
];

async function setUp(t: Test) {
  const folder = t.testdir();
  const store = await openStore({
    location: `${folder}/store.db`,
    key: { file: `${folder}/store.key` },
    ...cheapCosts,
  });
  t.teardown(() => store.close());
  const users = new AuthenticatedUsers(store);
  t.teardown(() => {
    users.stop();
  });
  const objects = new FakeObjects([
    { id: "pool", type: "pool" },
    { id: "net", type: "network", $pool: "pool" },
    { id: "sr", type: "SR", $pool: "pool" },
    { id: "other", type: "network", $pool: "pool" },
    { id: "template", type: "VM-template", $pool: "pool" },
  ]);
  const { catalog, queries } = objects.views;
  const clock = new FakeClock();
  const sets = new ResourceSets({ catalog, queries, store, clock });
  const logger = createLoggers({
    destination: { write: () => undefined },
  }).named("xo:test");
  const dispatcher = createTestDispatcher(
    [...resourceSetOperations, ...cloudConfigOperations],
    {
      logger,
      services: { store, resourceSets: sets, queries },
      audit: createAudit(store, "test"),
    },
  );
  const ids = new Map<string, string>();
  for (const name of ["root", "ada", "eve"]) {
    const permission = name === "root" ? "admin" : "none";
    ids.set(name, (await store.users.create({ name, permission })).id);
  }
  const idOf = (name: string) => ids.get(name)!;
  const contextOf = (name: string) =>
    ({
      user: users.get(idOf(name)),
      permission: name === "root" ? "admin" : "user",
      address: "192.0.2.1",
    }) as unknown as HandlerContext;
  const call = (name: string, method: string, params?: object) =>
    dispatcher.call(method, params, contextOf(name));
  return { store, users, objects, sets, clock, idOf, contextOf, call };
}

t.test("a set is created and changed as clients do it", async (t) => {
  const { call, idOf } = await setUp(t);
  const created = (await call("root", "resourceSet.create", {
    name: "students",
    subjects: [idOf("ada")],
    objects: ["net"],
    limits: { cpus: { total: 4, available: 4 }, memory: 8 * GIB },
  })) as { id: string };
  const { id } = created;
  t.same(created, {
    id,
    name: "students",
    subjects: [idOf("ada")],
    objects: ["net"],
    limits: {
      cpus: { total: 4, usage: 0, available: 4 },
      memory: { total: 8 * GIB, usage: 0, available: 8 * GIB },
    },
    tags: [],
    ipPools: [],
    shareByDefault: false,
  });
  for (const [verb, params] of [
    ["addObject", { object: "sr" }],
    ["removeObject", { object: "net" }],
    ["addSubject", { subject: "g" }],
    ["removeSubject", { subject: idOf("ada") }],
    ["addLimit", { limitId: "disk", quantity: 100 * GIB }],
    ["removeLimit", { limitId: "cpus" }],
    ["set", { name: "all students", tags: ["x"] }],
  ] as const)
    t.equal(
      await call("root", `resourceSet.${verb}`, { id, ...params }),
      true,
      verb,
    );
  t.match(await call("root", "resourceSet.getAll", { id: "dummy" }), [
    {
      id,
      name: "all students",
      subjects: ["g"],
      objects: ["sr"],
      tags: ["x"],
      limits: { memory: { total: 8 * GIB }, disk: { total: 100 * GIB } },
    },
  ]);
  await t.rejects(
    call("ada", "resourceSet.addLimit", {
      id,
      limitId: "cpus",
      quantity: 1,
    }),
    { code: "FORBIDDEN" },
  );
  t.equal(await call("root", "resourceSet.delete", { id }), true);
  t.same(await call("root", "resourceSet.getAll"), []);
});

t.test("only its users see a set and may read its contents", async (t) => {
  const { call, idOf, store, users } = await setUp(t);
  const group = await store.groups.create("staff");
  await store.groups.addMember(group.id, idOf("ada"));
  const created = (await call("root", "resourceSet.create", {
    name: "s",
    subjects: [group.id],
    objects: ["net", "sr"],
  })) as { id: string };
  t.match(await call("ada", "resourceSet.getAll"), [{ id: created.id }]);
  t.same(await call("eve", "resourceSet.getAll"), []);
  await t.rejects(call("eve", "resourceSet.get", { id: created.id }), {
    code: "NO_SUCH_OBJECT",
  });
  const may = (action: string, type: string, id: string) =>
    users.get(idOf("ada"))!.rights.may(action, type, { id });
  t.ok(may("read", "network", "net"));
  t.ok(may("operate:attach", "network", "net"));
  t.ok(may("operate:store", "SR", "sr"));
  t.ok(may("read", "pool", "pool"), "the pool of its objects");
  t.notOk(may("operate:store", "pool", "pool"));
  t.notOk(may("administrate:delete", "SR", "sr"));
  t.notOk(may("read", "network", "other"));
  t.notOk(users.get(idOf("eve"))!.rights.may("read", "SR", { id: "sr" }));
  await call("root", "resourceSet.delete", { id: created.id });
  t.notOk(may("read", "network", "net"), "rights end with the set");
});

t.test("resources of its VMs are counted, and limited", async (t) => {
  const { call, sets, contextOf, idOf, objects, clock } = await setUp(t);
  const { id } = (await call("root", "resourceSet.create", {
    name: "s",
    subjects: [idOf("ada")],
    objects: ["net"],
    limits: { cpus: 6, memory: 8 * GIB, disk: 100 * GIB },
  })) as { id: string };
  for (const object of vmOf(id)) objects.set(object);
  t.match(await call("ada", "resourceSet.get", { id }), {
    limits: {
      cpus: { total: 6, usage: 2, available: 4 },
      memory: { usage: 2 * GIB },
      disk: { usage: 10 * GIB },
    },
  });
  t.throws(() => sets.open(id, contextOf("eve")), { code: "NO_SUCH_OBJECT" });
  const set = sets.open(id, contextOf("ada"));
  t.same([set.has("net"), set.has("other")], [true, false]);
  const two = { cpus: 2, memory: GIB, disk: GIB };
  await t.rejects(set.reserve({ ...two, memory: 7 * GIB }), {
    code: "RESOURCES_EXHAUSTED",
    data: { resourceType: "memory", available: 6 * GIB },
  });
  const taken = await Promise.allSettled(
    [1, 2, 3].map(() => sets.open(id, contextOf("ada")).reserve(two)),
  );
  t.same(
    taken.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected"],
    "concurrent reservations do not exceed the limit",
  );
  const [first] = taken as PromiseFulfilledResult<() => Promise<void>>[];
  await first!.value();
  const release = await set.reserve(two);
  await release();
  clock.pass(3600 * 1000 + 1);
  await set.reserve({ ...two, cpus: 4 });
});

t.test(
  "a VM belongs to the user who created it, and is counted once",
  async (t) => {
    const { call, sets, contextOf, idOf, objects, users } = await setUp(t);
    const { id } = (await call("root", "resourceSet.create", {
      name: "s",
      subjects: [idOf("ada"), idOf("eve")],
      limits: { vms: 2 },
    })) as { id: string };
    const mayAda = () => users.get(idOf("ada"))!.rights;
    const set = sets.open(id, contextOf("ada"));
    await set.reserve({ cpus: 1, memory: 1, disk: 1 });
    await set.own("vm");
    t.ok(mayAda().may("administrate:delete", "VM", { id: "vm" }));
    t.notOk(users.get(idOf("eve"))!.rights.may("read", "VM", { id: "vm" }));
    for (const object of vmOf(id)) objects.set(object);
    const second = sets.open(id, contextOf("eve"));
    await second.reserve({ cpus: 1, memory: 1, disk: 1 });
    await t.rejects(second.reserve({ cpus: 1, memory: 1, disk: 1 }), {
      code: "RESOURCES_EXHAUSTED",
    });
    await call("root", "resourceSet.set", { id, shareByDefault: true });
    await second.own("vm2");
    t.ok(mayAda().may("operate:start", "VM", { id: "vm2" }));
  },
);

t.test("templates of configurations are stored, of both kinds", async (t) => {
  const { call, store, idOf } = await setUp(t);
  const template = "#cloud-config\npassword: hunter2\n";
  const created = await call("root", "cloudConfig.create", {
    name: "debian",
    template,
  });
  t.match(created, { name: "debian", template });
  await call("root", "cloudConfig.createNetworkConfig", {
    name: "net",
    template: "version: 2",
  });
  const { id } = created as { id: string };
  t.same(await call("ada", "cloudConfig.getAll"), [], "may contain passwords");
  await call("root", "resourceSet.create", {
    name: "students",
    subjects: [idOf("ada")],
  });
  const give = (object: string) =>
    store.acls.add({ subject: idOf("eve"), object, action: "admin" });
  await give("sr");
  t.same(
    await call("eve", "cloudConfig.getAllNetworkConfigs"),
    [],
    "rights on other objects than a template create no VMs",
  );
  await give("template");
  t.match(await call("eve", "cloudConfig.getAllNetworkConfigs"), [
    { name: "net" },
  ]);
  t.same(await call("ada", "cloudConfig.getAll"), [
    { id, name: "debian", template },
  ]);
  t.match(await call("ada", "cloudConfig.getAllNetworkConfigs"), [
    { name: "net" },
  ]);
  await t.rejects(call("ada", "cloudConfig.delete", { id }), {
    code: "FORBIDDEN",
  });
  t.equal(await call("root", "cloudConfig.update", { id, name: "d" }), true);
  t.equal(await call("root", "cloudConfig.delete", { id }), true);
  t.same(await call("ada", "cloudConfig.getAll"), []);
  t.notMatch(JSON.stringify(await store.audit.list()), "hunter2");
});
