import t, { type Test } from "tap";
import { startTestServer } from "./test-server.js";

interface Named {
  readonly id: string;
  readonly name: string;
}

/** A server with ada and ben, who are in a group with a role, and how each asks over REST. */
async function setUp(t: Test) {
  const { get, connect } = await startTestServer(t);
  const root = await (await connect()).signIn();
  const make = async (email: string) =>
    (await root.request("user.create", { email, password: email })) as string;
  const [ada, ben] = [await make("ada"), await make("ben")];
  const group = await root.request("group.create", { name: "readers" });
  await root.request("group.setUsers", { id: group, userIds: [ada, ben] });
  await root.request("group.create", { name: "others" });
  const role = await root.request("role.create", { name: "reader" });
  const privilege = { effect: "allow", resource: "VM", action: "read" };
  await root.request("privilege.create", { roleId: role, ...privilege });
  await root.request("role.addToGroup", { id: role, groupId: group });
  const tokens = new Map<string, string>();
  for (const name of ["ada", "ben"]) {
    const client = await (await connect()).signIn(name, name);
    tokens.set(name, (await client.request("token.create", {})) as string);
  }
  tokens.set("admin", (await root.request("token.create", {})) as string);
  const request = (name: string, path: string, method = "GET", body?: object) =>
    get(`/rest/v0${path}`, {
      method,
      headers: {
        cookie: `authenticationToken=${tokens.get(name)!}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const names = async (name: string, path: string) => {
    const answer = await request(name, `${path}?fields=*`);
    t.equal(answer.status, 200, `${name} ${path}`);
    return ((await answer.json()) as Named[]).map((one) => one.name).toSorted();
  };
  return {
    root,
    request,
    names,
    ada,
    ben,
    connect,
    tokens,
    group: group as string,
    role: role as string,
  };
}

t.test("admins see all users, others themselves", async (t) => {
  const { names } = await setUp(t);
  t.same(await names("admin", "/users"), ["ada", "admin", "ben"]);
  t.same(await names("ada", "/users"), ["ada"]);
  t.same(await names("admin", "/groups"), ["others", "readers"]);
  t.same(await names("ada", "/groups"), ["readers"]);
  t.same(await names("ada", "/acl-roles"), ["reader"]);
  const all = await names("admin", "/acl-roles");
  t.same(all, ["admin", "operator", "reader", "viewer"]);
});

t.test("objects of a user are below the user", async (t) => {
  const { names, request, ada, ben, group, role } = await setUp(t);
  for (const who of ["me", ada]) {
    t.same(await names("ada", `/users/${who}/groups`), ["readers"]);
    const path = `/users/${who}/acl-privileges?fields=*`;
    t.match(await (await request("ada", path)).json(), [
      { roleId: role, resource: "VM", action: "read", effect: "allow" },
    ]);
  }
  t.same(await names("admin", `/groups/${group}/users`), ["ada", "ben"]);
  t.same(await names("ada", `/groups/${group}/users`), ["ada"]);
  t.same(await names("admin", `/groups/${group}/acl-roles`), ["reader"]);
  t.same(await names("admin", `/acl-roles/${role}/groups`), ["readers"]);
  t.same(await names("admin", `/acl-roles/${role}/users`), []);
  await request("admin", `/acl-roles/${role}/users/${ben}`, "PUT");
  t.same(await names("admin", `/acl-roles/${role}/users`), ["ben"]);
  t.same(await names("ada", `/acl-roles/${role}/users`), []);
});

t.test("objects of others do not exist for the caller", async (t) => {
  const { request, ben, ada, names, root } = await setUp(t);
  const others = await root.request("group.getAll");
  const { id: other } = (others as Named[]).find(
    (one) => one.name === "others",
  )!;
  for (const path of [
    `/users/${ben}`,
    `/users/${ben}/groups`,
    `/users/${ben}/acl-privileges`,
    `/groups/${other}`,
    `/groups/${other}/users`,
    `/groups/${other}/acl-roles`,
    "/acl-roles/none/users",
    "/acl-privileges/none",
  ])
    t.equal((await request("ada", path)).status, 404, path);
  const tokens = `/users/${ben}/authentication_tokens`;
  t.equal((await request("ada", tokens)).status, 403);
  t.equal((await request("ada", tokens, "POST", {})).status, 403);
  for (const [method, path] of [
    ["PUT", `/groups/${other}/users/${ada}`],
    ["DELETE", `/users/${ben}`],
    ["PATCH", `/users/${ben}`],
    ["POST", "/acl-roles"],
  ] as const)
    t.equal((await request("ada", path, method, {})).status, 403, path);
  t.same(await names("ben", "/users"), ["ben"]);
});

t.test("privileges include users only if they name them", async (t) => {
  const { names, root, role } = await setUp(t);
  const allow = (resource: string) =>
    root.request("privilege.create", {
      roleId: role,
      effect: "allow",
      resource,
      action: "*",
      ...(resource === "user" ? { selector: "name:ben" } : {}),
    });
  await allow("*");
  t.same(await names("ada", "/users"), ["ada"]);
  t.same(await names("ada", "/groups"), ["readers"]);
  await allow("user");
  t.same(await names("ada", "/users"), ["ada", "ben"]);
  await allow("group");
  t.same(await names("ada", "/groups"), ["others", "readers"]);
});

t.test("a role is copied with its privileges", async (t) => {
  const { request, role, root } = await setUp(t);
  const path = `/acl-roles/${role}/actions/copy?sync=true`;
  const created = await request("admin", path, "POST", { name: "copy" });
  t.equal(created.status, 201);
  const { id } = (await created.json()) as Named;
  t.equal(created.headers.get("location"), `/rest/v0/acl-roles/${id}`);
  t.match(await root.request("role.getPrivileges", { id }), [
    { roleId: id, resource: "VM", action: "read" },
  ]);
  t.equal((await request("ada", path, "POST", {})).status, 403);
  const roles = (await root.request("role.list")) as Named[];
  const { id: viewer } = roles.find((one) => one.name === "viewer")!;
  const ofViewer = await request(
    "admin",
    `/acl-roles/${viewer}/actions/copy?sync=true`,
    "POST",
    {},
  );
  const { id: copy } = (await ofViewer.json()) as Named;
  t.match(await root.request("role.get", { id: copy }), {
    name: "viewer (copy)",
    isTemplate: undefined,
  });
  const [first] = (await root.request("role.getPrivileges", {
    id: viewer,
  })) as Named[];
  t.match(await root.request("privilege.get", { id: first!.id }), {
    action: "read",
  });
});

t.test("tokens are created under old names, and described", async (t) => {
  const { request, connect, ada } = await setUp(t);
  for (const path of [
    "/users/authentication_tokens",
    "/users/me/authentication_tokens",
    `/users/${ada}/authentication_tokens`,
  ]) {
    const created = await request("ada", path, "POST", { description: "x" });
    t.equal(created.status, 201, path);
    t.match(await created.json(), {
      token: { user_id: ada, description: "x" },
    });
  }
  const client = await (await connect()).signIn("ada", "ada");
  const token = (await client.request("token.create", {})) as string;
  const described = async () =>
    (
      (await client.request("user.getAuthenticationTokens")) as {
        description?: string;
      }[]
    ).map(({ description }) => description);
  t.notOk((await described()).includes("y"));
  await client.request("token.set", { id: token, description: "y" });
  t.ok((await described()).includes("y"));
  await client.request("token.set", { id: token, description: null });
  t.notOk((await described()).includes("y"));
  const other = await (await connect()).signIn("ben", "ben");
  t.match(await other.call("token.set", { id: token, description: "z" }), {
    error: { code: 1 },
  });
});

t.test("providers are listed for anonymous clients", async (t) => {
  const yaml = JSON.stringify({
    ldap: { urls: ["ldaps://127.0.0.1"], base: "dc=example" },
    oidc: { issuer: "https://127.0.0.1", clientId: "x", label: "Example" },
  });
  const { get } = await startTestServer(t, yaml);
  const answer = await get("/rest/v0/signin/providers");
  t.same(await answer.json(), {
    providers: [
      { id: "password", name: "Password", kind: "password" },
      { id: "ldap", name: "LDAP", kind: "password" },
      { id: "oidc", name: "Example", kind: "redirect", url: "/signin/oidc" },
    ],
  });
});
