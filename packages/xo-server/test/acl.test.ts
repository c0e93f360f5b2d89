import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { aclOperations } from "../src/methods/auth/acl.js";
import type { Services } from "../src/methods/definition/services.js";
import type { HandlerContext } from "../src/operations/operation.js";
import { cheapCosts } from "./cheap-costs.js";
import { FakeObjects } from "./fake-objects.js";
import { createTestDispatcher } from "./test-dispatcher.js";

/** Connections to pools: `pool` is null and `isLoading` true before their objects are known. */
function connectionsTo(
  ...all: readonly { label: string; pool: string | null; isLoading?: boolean }[]
): Partial<Services> {
  const list = () => all.map((one) => ({ id: one.label, ...one }));
  const mirrorStatus = (id: string) => list().find((one) => one.id === id);
  return {
    pools: { list },
    inventory: { mirrorStatus },
  } as unknown as Services;
}

async function setUp(t: Test, pools = connectionsTo()) {
  const folder = t.testdir();
  const store = await openStore({
    location: `${folder}/store.db`,
    key: { file: `${folder}/store.key` },
    ...cheapCosts,
  });
  t.teardown(() => store.close());
  const { id: subject } = await store.users.create({ name: "ada" });
  const objects = new FakeObjects([
    { id: "vm", type: "VM", _xapiRef: "OpaqueRef:1" },
    { id: "net", type: "network" },
    { id: "pool", type: "pool" },
  ]);
  const { catalog } = objects.views;
  const dispatcher = createTestDispatcher(aclOperations, {
    services: { store, catalog, ...pools },
  });
  const context = {
    user: { id: "root", isAdmin: true },
    permission: "admin",
    address: "192.0.2.1",
  } as unknown as HandlerContext;
  const change = (verb: "add" | "remove", object: string, of = subject) =>
    dispatcher.call(
      `acl.${verb}`,
      { subject: of, object, action: "viewer" },
      context,
    );
  const granted = () => Array.from(store.acls.list(), ({ object }) => object);
  return { store, subject, change, granted };
}

t.test("only users and groups that exist are granted ACLs", async (t) => {
  const { store, change, granted } = await setUp(t);
  await t.rejects(change("add", "vm", "nobody"), {
    code: "NO_SUCH_OBJECT",
    data: { type: "user or group", id: "nobody" },
  });
  t.same(granted(), []);
  const { id: group } = await store.groups.create("students");
  t.equal(await change("add", "vm", group), true);
});

t.test("an ACL is granted on what exists, whatever it is", async (t) => {
  const { store, change, granted } = await setUp(t);
  const { id: set } = await store.resourceSets.create({ name: "students" });
  const known = ["vm", "net", "pool", set];
  for (const object of known)
    t.equal(await change("add", object), true, object);
  t.same(granted().sort(), known.sort());
});

t.test("an ACL on an unknown object is refused by name", async (t) => {
  const { change, granted } = await setUp(t);
  // Rights compare ids: an ACL on a reference would grant nothing.
  for (const id of ["nothing", "OpaqueRef:1"])
    await t.rejects(change("add", id), {
      code: "NO_SUCH_OBJECT",
      data: { type: "object", id },
    });
  t.same(granted(), []);
});

t.test(
  "an unknown object is refused with the pools that are not loaded",
  async (t) => {
    const { store, change, granted } = await setUp(
      t,
      connectionsTo(
        { label: "Paris", pool: "a" },
        { label: "Rome", pool: null },
        { label: "Oslo", pool: "b", isLoading: true },
      ),
    );
    await store.servers.add({
      host: "192.0.2.1",
      label: "Lima",
      enabled: false,
      username: "root",
      password: "a password",
    });
    await t.rejects(change("add", "nothing"), {
      code: "OBJECT_NOT_LOADED",
      message: /nothing.*Rome, Oslo, Lima/,
    });
    t.equal(await change("add", "vm"), true, "those of loaded pools are known");
    t.same(granted(), ["vm"]);
  },
);

t.test("the ACL of a deleted object can be revoked", async (t) => {
  const { store, subject, change, granted } = await setUp(t);
  await store.acls.add({ subject, object: "gone", action: "viewer" });
  t.equal(await change("remove", "gone"), true);
  t.same(granted(), []);
});
