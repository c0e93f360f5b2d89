import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { aclOperations } from "../src/methods/acl.js";
import type { HandlerContext } from "../src/operations/operation.js";
import { FakeObjects } from "./fake-objects.js";
import { createTestDispatcher } from "./test-dispatcher.js";

async function setUp(t: Test) {
  const folder = t.testdir();
  const store = await openStore({
    location: `${folder}/store.db`,
    key: { file: `${folder}/store.key` },
    scryptCost: { ln: 10, r: 8, p: 1 },
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
    services: { store, catalog },
  });
  const context = {
    user: { id: "root", isAdmin: true },
    permission: "admin",
    address: "192.0.2.1",
  } as unknown as HandlerContext;
  const change = (verb: "add" | "remove", object: string) =>
    dispatcher.call(
      `acl.${verb}`,
      { subject, object, action: "viewer" },
      context,
    );
  const granted = () => Array.from(store.acls.list(), ({ object }) => object);
  return { store, subject, change, granted };
}

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

t.test("the ACL of an object that is gone can be revoked", async (t) => {
  const { store, subject, change, granted } = await setUp(t);
  await store.acls.add({ subject, object: "gone", action: "viewer" });
  t.equal(await change("remove", "gone"), true);
  t.same(granted(), []);
});
