import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testRights(t: Test, harness: StoreHarness) {
  t.test("a role has privileges and is granted", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const role = await store.roles.create({
      name: "operator",
      isTemplate: true,
    });
    const allow = await store.privileges.create({
      roleId: role.id,
      effect: "allow",
      resource: "vm",
      action: "start",
      selector: { tags: "qa" },
    });
    const deny = await store.privileges.create({
      roleId: role.id,
      effect: "deny",
      resource: "*",
      action: "*",
    });
    await store.privileges.update(allow.id, { action: "stop" });
    const user = await store.users.create({ name: "ada" });
    const group = await store.groups.create("staff");
    await store.grants.add(role.id, { type: "user", id: user.id });
    await store.grants.add(role.id, { type: "group", id: group.id });

    const again = await bench.open();
    t.same(again.roles.findByName("operator"), role);
    t.same(
      new Set(again.privileges.ofRole(role.id)),
      new Set([{ ...allow, action: "stop" }, deny]),
    );
    t.same(again.grants.rolesOf({ type: "user", id: user.id }), [role.id]);
    t.same(again.grants.rolesOf({ type: "group", id: user.id }), []);
    t.equal(again.grants.subjectsOf(role.id).length, 2);
    await again.grants.remove(role.id, { type: "user", id: user.id });
    t.same(again.grants.rolesOf({ type: "user", id: user.id }), []);
    await again.groups.delete(group.id);
    t.same(again.grants.subjectsOf(role.id), []);
    await again.roles.delete(role.id);
    t.same([...again.privileges.list()], []);
  });

  t.test("rights reference existing objects", async (t) => {
    const store = await (await createBench(t, harness)).open();
    const role = await store.roles.create({ name: "viewer" });
    const missing = { code: "NO_SUCH_OBJECT" };
    const privilege = { effect: "allow", resource: "vm", action: "*" } as const;
    await t.rejects(
      store.privileges.create({ ...privilege, roleId: "none" }),
      missing,
    );
    await t.rejects(
      store.grants.add(role.id, { type: "user", id: "x" }),
      missing,
    );
    await t.rejects(store.grants.add("x", { type: "user", id: "x" }), missing);
    const user = await store.users.create({ name: "ada" });
    const subject = { type: "user", id: user.id } as const;
    await store.grants.add(role.id, subject);
    await t.rejects(store.grants.add(role.id, subject), {
      code: "ALREADY_EXISTS",
    });
    await t.rejects(store.roles.create({ name: "viewer" }), {
      code: "ALREADY_EXISTS",
    });
    t.match(await store.roles.update(role.id, { description: "sees" }), {
      name: "viewer",
      description: "sees",
    });
  });

  t.test("an ACL added twice is stored once", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const acl = { subject: "u", object: "vm", action: "viewer" };
    const created = await Promise.all([1, 2, 3].map(() => store.acls.add(acl)));
    t.equal(new Set(created.map(({ id }) => id)).size, 1);
    await store.acls.add({ ...acl, action: "admin" });
    const again = await bench.open();
    t.equal(again.acls.ofSubject("u").size, 2);
    t.equal(again.acls.ofObject("vm").size, 2);
    t.equal(await again.acls.remove(acl), true);
    t.equal(await again.acls.remove(acl), false);
    t.equal(again.acls.ofSubject("u").size, 1);
  });
}
