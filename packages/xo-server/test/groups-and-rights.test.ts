import t from "tap";
import { startTestServer } from "./test-server.js";

t.test("groups have users", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const user = { email: "ada", password: "ada" };
  const userId = await admin.ask("user.create", user);
  t.type(userId, "string");
  t.match(await admin.call("user.create", user), { error: { code: 16 } });
  const id = await admin.ask("group.create", { name: "staff" });
  t.type(id, "string");
  t.equal(await admin.ask("group.addUser", { id, userId }), true);
  t.same(await admin.ask("group.getAll"), [
    { id, name: "staff", users: [userId] },
  ]);
  const ada = await (await connect()).signIn("ada", "ada");
  t.match(await ada.ask("session.getUser"), { groups: [id] });
  t.equal(await admin.ask("group.set", { id, name: "crew" }), true);
  t.equal(await admin.ask("group.removeUser", { id, userId }), true);
  t.equal(await admin.ask("group.setUsers", { id, userIds: [userId] }), true);
  t.match(await admin.ask("group.get", { id }), {
    name: "crew",
    users: [userId],
  });
  t.equal(await admin.ask("group.delete", { id }), true);
  t.match(await ada.ask("session.getUser"), { groups: [] });
  t.match(await admin.call("group.get", { id }), { error: { code: 1 } });
});

t.test("rights of the older kind are kept as they were given", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const subject = await admin.ask("user.create", {
    email: "ada",
    password: "ada",
  });
  const acl = { subject, object: "vm1", action: "operator" };
  t.equal(await admin.ask("acl.add", acl), true);
  t.equal(await admin.ask("acl.add", acl), true, "twice is once");
  t.match(await admin.ask("acl.get", { dummy: "dummy" }), [acl]);
  const ada = await (await connect()).signIn("ada", "ada");
  t.same(await ada.ask("acl.getCurrentPermissions"), {
    vm1: { view: 1, operate: 1 },
  });
  t.same(await ada.ask("role.getAll"), [
    { id: "viewer", name: "viewer", permissions: ["view"] },
    { id: "operator", name: "operator", permissions: ["view", "operate"] },
    {
      id: "admin",
      name: "admin",
      permissions: ["view", "operate", "administrate"],
    },
  ]);
  t.equal(await admin.ask("acl.remove", acl), true);
  t.same(await ada.ask("acl.getCurrentPermissions"), {});
  t.match(await admin.call("acl.add", { ...acl, action: "owner" }), {
    error: { code: 10 },
  });
  t.match(await admin.call("acl.add", { ...acl, subject: "who" }), {
    error: { code: 1 },
  });
});

t.test("roles are made of privileges; those of the program stay", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const roles = (await admin.ask("role.list")) as {
    id: string;
    name: string;
  }[];
  t.same(roles.map(({ name }) => name).toSorted(), [
    ...["admin", "operator", "viewer"],
  ]);
  const builtIn = roles[0]!.id;
  const code10 = { error: { code: 10 } };
  t.match(await admin.call("role.delete", { id: builtIn }), code10);
  const roleId = await admin.ask("role.create", { name: "testers" });
  const privilege = {
    roleId,
    effect: "allow",
    resource: "vm",
    action: "read",
    selector: "tags:test",
  };
  t.match(
    await admin.call("privilege.create", { ...privilege, roleId: builtIn }),
    code10,
  );
  t.match(
    await admin.call("privilege.create", { ...privilege, selector: "(" }),
    code10,
  );
  const id = await admin.ask("privilege.create", privilege);
  t.same(await admin.ask("role.getPrivileges", { id: roleId }), [
    { id, ...privilege },
  ]);
  t.equal(await admin.ask("privilege.set", { id, effect: "deny" }), true);
  t.match(await admin.ask("privilege.get", { id }), { effect: "deny" });
  t.equal(await admin.ask("privilege.delete", { id }), true);
  t.same(await admin.ask("privilege.getAll"), []);
  t.equal(await admin.ask("role.delete", { id: roleId }), true);
});
