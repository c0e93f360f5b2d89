import t from "tap";
import {
  isAllowed,
  permissions,
  type Permission,
} from "../src/operations/operation.js";
import { startTestServer, type TestClient } from "./test-server.js";

/** As signing in again, or out, would change the user of the next calls. */
const LAST = ["session.signOut"];

/** Who calls, and the highest level that they have. */
const callers: readonly (readonly [name: string, level: Permission])[] = [
  ["nobody", "guest"],
  ["user", "user"],
  ["viewer", "user"],
  ["operator", "operator"],
  ["boss", "admin"],
];

t.test("every method requires its declared permission", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const clients = new Map<string, TestClient>();
  const roles = (await admin.request("role.list")) as Named[];
  for (const [name, level] of callers) {
    const client = await connect();
    clients.set(name, client);
    if (level === "guest") continue;
    const permission = level === "admin" ? "admin" : "none";
    const user = { email: name, password: name, permission };
    const id = await admin.request("user.create", user);
    const role = roles.find((one) => one.name === name);
    if (role !== undefined)
      await admin.request("role.addToUser", { id: role.id, userId: id });
    await client.signIn(name, name);
  }
  const methods = Object.entries(
    (await admin.request("system.getMethodsInfo")) as Record<string, Info>,
  ).toSorted(([one], [two]) => LAST.indexOf(one) - LAST.indexOf(two));
  t.ok(methods.length > 50);
  for (const [method, info] of methods) {
    const needed = levelOf(method, info);
    const refused: string[] = [];
    for (const [name] of callers) {
      const { error } = await clients.get(name)!.call(method, {});
      if (error?.code === 2) refused.push(name);
      t.not(error?.code, -32603, `${method} as ${name} does not break`);
    }
    const expected = callers
      .filter(([, level]) => !isAllowed(level, needed))
      .map(([name]) => name);
    t.same(refused, expected, `${method} needs ${needed}`);
  }
});

t.test("a user sees and changes nothing of others", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const id = await admin.request("user.create", {
    email: "eve",
    password: "eve",
  });
  const other = await admin.request("user.create", {
    email: "bob",
    password: "b",
  });
  const eve = await (await connect()).signIn("eve", "eve");
  const code2 = { error: { code: 2 } };
  t.match(await eve.call("user.get", { id: other }), { error: { code: 1 } });
  t.match(await eve.request("user.get", { id }), { email: "eve", groups: [] });
  for (const params of [
    { id: other, preferences: {} },
    { id, permission: "admin" },
    { id, email: "admin" },
    { id, password: "new" },
  ])
    t.match(await eve.call("user.set", params), code2);
  const preferences = { lang: "fr" };
  t.equal(await eve.request("user.set", { id, preferences }), true);
  t.match(await eve.request("session.getUser"), { preferences });
  for (const method of [
    "user.getAuthenticationTokens",
    "user.createAuthenticationToken",
    "user.removeTotp",
  ])
    t.match(await eve.call(method, { id: other }), code2);
  const token = await admin.request("token.create", {});
  t.equal(await eve.request("token.deleteOwn", { tokens: [token] }), true);
  t.match(await (await connect()).request("session.signIn", { token }), {});
});

t.test("an admin cannot delete themselves", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const { id } = (await admin.request("session.getUser")) as Named;
  const code10 = { error: { code: 10 } };
  t.match(await admin.call("user.delete", { id }), code10);
  t.match(await admin.call("user.set", { id, permission: "none" }), code10);
});

t.test("deleted and demoted users lose their rights immediately", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const id = await admin.request("user.create", {
    email: "ada",
    password: "ada",
    permission: "admin",
  });
  const ada = await (await connect()).signIn("ada", "ada");
  t.type(await ada.request("user.getAll", { dummy: "dummy" }), Array);
  await admin.request("user.set", { id, permission: "none" });
  t.match(await ada.call("user.getAll"), { error: { code: 2 } });
  await admin.request("user.delete", { id });
  t.equal(await ada.closed, 1001);
  t.match(
    await (
      await connect()
    ).call("session.signIn", {
      email: "ada",
      password: "ada",
    }),
    { error: { code: 3 } },
  );
});

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Info {
  readonly permission?: string;
}

/**
 * Without a level, a method is for every signed-in user, except these; one
 * that names a right on an object, or a level of older clients, is as well.
 */
function levelOf(method: string, { permission }: Info): Permission {
  const level = permissions.find((one) => one === permission);
  if (level !== undefined) return level;
  const isOpen =
    /^session\.(signIn|getUser|getProviders|createTicket)|^system\./.test(
      method,
    );
  return permission === undefined && isOpen ? "none" : "user";
}
