import t from "tap";
import { startTestServer } from "./test-server.js";

t.test("groups have users", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const user = { email: "ada", password: "ada" };
  const userId = await admin.request("user.create", user);
  t.type(userId, "string");
  t.match(await admin.call("user.create", user), { error: { code: 16 } });
  const id = await admin.request("group.create", { name: "staff" });
  t.type(id, "string");
  t.equal(await admin.request("group.addUser", { id, userId }), true);
  t.same(await admin.request("group.getAll"), [
    { id, name: "staff", users: [userId] },
  ]);
  const ada = await (await connect()).signIn("ada", "ada");
  t.match(await ada.request("session.getUser"), { groups: [id] });
  t.equal(await admin.request("group.set", { id, name: "crew" }), true);
  t.equal(await admin.request("group.removeUser", { id, userId }), true);
  t.equal(
    await admin.request("group.setUsers", { id, userIds: [userId] }),
    true,
  );
  t.match(await admin.request("group.get", { id }), {
    name: "crew",
    users: [userId],
  });
  t.equal(await admin.request("group.delete", { id }), true);
  t.match(await ada.request("session.getUser"), { groups: [] });
  t.match(await admin.call("group.get", { id }), { error: { code: 1 } });
});

t.test("ACLs are stored without changes", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const subject = await admin.request("user.create", {
    email: "ada",
    password: "ada",
  });
  const { id: object } = (await admin.request("resourceSet.create", {
    name: "students",
  })) as { id: string };
  const acl = { subject, object, action: "operator" };
  t.equal(await admin.request("acl.add", acl), true);
  t.equal(await admin.request("acl.add", acl), true, "twice is once");
  t.match(await admin.request("acl.get", { dummy: "dummy" }), [acl]);
  const ada = await (await connect()).signIn("ada", "ada");
  t.same(await ada.request("acl.getCurrentPermissions"), {
    [object]: { view: 1, operate: 1 },
  });
  t.same(await ada.request("role.getAll"), [
    { id: "viewer", name: "viewer", permissions: ["view"] },
    { id: "operator", name: "operator", permissions: ["view", "operate"] },
    {
      id: "admin",
      name: "admin",
      permissions: ["view", "operate", "administrate"],
    },
  ]);
  t.equal(await admin.request("acl.remove", acl), true);
  t.same(await ada.request("acl.getCurrentPermissions"), {});
  t.match(await admin.call("acl.add", { ...acl, action: "owner" }), {
    error: { code: 10 },
  });
  t.match(await admin.call("acl.add", { ...acl, subject: "who" }), {
    error: { code: 1 },
  });
});

t.test("roles consist of privileges; built-in roles stay", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const roles = (await admin.request("role.list")) as {
    id: string;
    name: string;
  }[];
  t.same(roles.map(({ name }) => name).toSorted(), [
    "admin",
    "operator",
    "viewer",
  ]);
  const builtIn = roles[0]!.id;
  const code10 = { error: { code: 10 } };
  t.match(await admin.call("role.delete", { id: builtIn }), code10);
  const roleId = await admin.request("role.create", { name: "testers" });
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
  const id = await admin.request("privilege.create", privilege);
  t.same(await admin.request("role.getPrivileges", { id: roleId }), [
    { id, ...privilege, resource: "VM" },
  ]);
  t.equal(await admin.request("privilege.set", { id, effect: "deny" }), true);
  t.match(await admin.request("privilege.get", { id }), { effect: "deny" });
  t.equal(await admin.request("privilege.delete", { id }), true);
  t.same(await admin.request("privilege.getAll"), []);
  t.equal(await admin.request("role.delete", { id: roleId }), true);
});

t.test("a privilege with a misspelt name is refused", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const roleId = await admin.request("role.create", { name: "testers" });
  const right = { roleId, effect: "deny", resource: "VM", action: "read" };
  const refusal = async (change: object, method = "privilege.create") => {
    const { error } = await admin.call(method, { ...right, ...change });
    t.equal(error?.code, 10);
    return (error!.data as { reason: string }).reason;
  };
  t.match(
    await refusal({ action: "operate:strat" }),
    'unknown action "operate:strat"; did you mean "operate:start"?',
  );
  t.match(
    await refusal({ resource: "VMs" }),
    'unknown resource "VMs"; did you mean "VM"?',
  );
  t.match(
    await refusal({ selector: "tag:prod" }),
    'selector: unknown property "tag" of VM; did you mean "tags"?',
  );
  t.match(
    await refusal({ resource: "*", selector: "nmae_label:x" }),
    'selector: unknown property "nmae_label" of any type; did you mean "name_label"?',
  );
  t.match(
    await refusal({ selector: "now.cpu:>0.5" }),
    'selector: unknown property "now" of VM',
    "metrics are not part of objects",
  );
  t.match(await refusal({ selector: "tags:(a" }), /selector: .*position 7/);
  t.same(await admin.request("privilege.getAll"), []);
  const id = await admin.request("privilege.create", {
    ...right,
    selector: "tags:prod memory.size:>1",
  });
  t.match(
    (await admin.call("privilege.set", { id, resource: "VBD" })).error,
    { data: { reason: /unknown property "tags" of VBD/ } },
    "what stays is checked too",
  );
  t.equal(
    await admin.request("privilege.set", { id, resource: "sr", selector: "" }),
    true,
  );
  t.match(await admin.request("privilege.get", { id }), { resource: "SR" });
  const names = (await admin.request("privilege.getNames")) as {
    actions: string[];
    resources: string[];
  };
  for (const action of names.actions)
    await admin.request("privilege.create", { ...right, action });
  for (const resource of names.resources)
    await admin.request("privilege.create", { ...right, resource });
});
