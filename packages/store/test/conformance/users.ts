import { inspect } from "node:util";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testUsers(t: Test, harness: StoreHarness) {
  t.test("a user signs in only with the right password", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const password = "correct horse";
    const created = await store.users.create({
      name: "ada@example.org",
      password,
    });
    await store.close();
    const { users } = await bench.open();
    const user = await users.verifyPassword("ada@example.org", password);
    t.equal(user?.id, created.id);
    t.equal(await users.verifyPassword("ada@example.org", "wrong"), undefined);
    t.equal(await users.verifyPassword("unknown", password), undefined);
    t.notMatch(await bench.dump(), password);
    t.notMatch(inspect(users, { depth: 10, showHidden: true }), "scrypt");
    t.notHas(created, "password");
  });

  t.test("a user without a password cannot sign in with one", async (t) => {
    const store = await (await createBench(t, harness)).open();
    const { id } = await store.users.create({ name: "ada" });
    for (const password of ["", "null", "undefined"])
      t.equal(await store.users.verifyPassword("ada", password), undefined);
    await store.users.setPassword(id, "now");
    t.ok(await store.users.verifyPassword("ada", "now"));
    await store.users.setPassword(id, null);
    t.equal(await store.users.verifyPassword("ada", "now"), undefined);
  });

  t.test("a hash with an outdated cost is replaced at sign-in", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    await store.users.create({ name: "ada", password: "pw" });
    await store.close();
    const hash = async () =>
      (await bench.query("select password_hash from users"))[0]!.password_hash;
    t.match(await hash(), /^\$scrypt\$ln=10,r=8,p=1\$/);
    const costlier = await bench.open({ scryptCost: { ln: 11, r: 8, p: 1 } });
    t.equal(await costlier.users.verifyPassword("ada", "no"), undefined);
    t.match(await hash(), /ln=10/);
    t.ok(await costlier.users.verifyPassword("ada", "pw"));
    t.match(await hash(), /^\$scrypt\$ln=11,r=8,p=1\$/);
    t.ok(await costlier.users.verifyPassword("ada", "pw"));
  });

  t.test("a user is changed, and found by name", async (t) => {
    const store = await (await createBench(t, harness)).open();
    const { id } = await store.users.create({ name: "ada" });
    await store.users.create({ name: "bob" });
    await store.users.update(id, {
      name: "Ada",
      permission: "admin",
      preferences: { language: "de" },
      authProviders: { ldap: "cn=ada" },
    });
    t.match(store.users.findByName("Ada"), {
      id,
      permission: "admin",
      preferences: { language: "de" },
      authProviders: { ldap: "cn=ada" },
      hasPassword: false,
    });
    t.equal(store.users.findByName("ada"), undefined);
    await t.rejects(store.users.update(id, { name: "bob" }), {
      code: "ALREADY_EXISTS",
      message: "user already exists",
    });
    await t.rejects(store.users.update("unknown", {}), {
      code: "NO_SUCH_OBJECT",
    });
  });

  t.test("a TOTP secret is encrypted, a time step is valid once", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const { id } = await store.users.create({ name: "ada" });
    await store.users.setTotp(id, "JBSWY3DPEHPK3PXP");
    t.equal(store.users.totpSecret(id), "JBSWY3DPEHPK3PXP");
    t.equal(store.users.get(id)?.hasTotp, true);
    t.notMatch(await bench.dump(), "JBSWY3DPEHPK3PXP");
    const tries = [57, 57, 56, 58].map((s) => store.users.useTotpStep(id, s));
    t.same(await Promise.all(tries), [true, false, false, true]);
    await store.users.setTotp(id, null);
    t.equal(store.users.totpSecret(id), undefined);
  });

  t.test("deleting a user deletes the user's data", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const { id } = await store.users.create({ name: "ada" });
    const group = await store.groups.create("staff");
    const role = await store.roles.create({ name: "viewer" });
    await store.groups.addMember(group.id, id);
    await store.grants.add(role.id, { type: "user", id });
    await store.acls.add({ subject: id, object: "vm", action: "viewer" });
    const { text } = await store.tokens.create({ userId: id });
    await store.users.delete(id);
    for (const each of [store, await bench.open()]) {
      t.equal(each.users.get(id), undefined);
      t.equal(each.tokens.find(text), undefined);
      t.same(each.groups.membersOf(group.id), []);
      t.same(each.grants.subjectsOf(role.id), []);
      t.same([...each.acls.list()], []);
    }
    await t.rejects(store.users.delete(id), { code: "NO_SUCH_OBJECT" });
  });

  t.test("the last admin who can sign in stays", async (t) => {
    const bench = await createBench(t, harness);
    const [one, two] = [await bench.open(), await bench.open()];
    const admin = { password: "pw", permission: "admin" } as const;
    const ada = await one.users.create({ name: "ada", ...admin });
    const ben = await one.users.create({ name: "ben", ...admin });
    await one.users.create({ name: "no way in", permission: "admin" });
    await two.refresh();
    const outcomes = await Promise.allSettled([
      one.users.update(ada.id, { permission: "none" }),
      two.users.update(ben.id, { permission: "none" }),
    ]);
    t.same(
      outcomes.map(({ status }) => status).toSorted(),
      ["fulfilled", "rejected"],
      "not each by another server",
    );
    await one.refresh();
    const left = [...one.users.list()].find(
      ({ permission, hasPassword }) => permission === "admin" && hasPassword,
    )!;
    const refused = { code: "LAST_ADMIN", data: { name: left.name } };
    await t.rejects(one.users.update(left.id, { permission: "none" }), refused);
    await t.rejects(one.users.setPassword(left.id, null), refused);
    await t.rejects(one.users.delete(left.id), refused);
    t.match(one.users.get(left.id), { permission: "admin", hasPassword: true });
    await one.users.update(left.id, { authProviders: { ldap: "1" } });
    await one.users.setPassword(left.id, null);
    await t.rejects(one.users.update(left.id, { authProviders: {} }), refused);
    await one.users.delete(left.id, { allowNoAdmin: true });
    t.equal(one.users.get(left.id), undefined);
  });

  t.test("groups have members", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const [ada, bob, eve] = await Promise.all(
      ["ada", "bob", "eve"].map((name) => store.users.create({ name })),
    );
    const group = await store.groups.create("staff", "ldap");
    await store.groups.setMembers(group.id, [ada!.id, bob!.id]);
    await store.groups.addMember(group.id, bob!.id);
    await store.groups.removeMember(group.id, ada!.id);
    await store.groups.removeMember(group.id, ada!.id);
    await store.groups.addMember(group.id, eve!.id);
    await store.groups.rename(group.id, "Staff");
    const { groups } = await bench.open();
    t.same(groups.get(group.id), { ...group, name: "Staff" });
    t.same(
      groups.membersOf(group.id).toSorted(),
      [bob!.id, eve!.id].toSorted(),
    );
    t.same(groups.groupsOf(bob!.id), [group.id]);
    t.same(groups.groupsOf(ada!.id), []);
    await t.rejects(groups.create("Staff"), { code: "ALREADY_EXISTS" });
    await t.rejects(groups.addMember(group.id, "unknown"), {
      code: "NO_SUCH_OBJECT",
    });
    await groups.delete(group.id);
    t.same(groups.groupsOf(bob!.id), []);
    t.equal(groups.findByName("Staff"), undefined);
  });
}
