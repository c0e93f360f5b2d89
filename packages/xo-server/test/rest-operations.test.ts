import { XapiError, XoError } from "@xo-server/model";
import t from "tap";
import { Type } from "typebox";
import {
  defineOperation,
  type Operation,
} from "../src/operations/operation.js";
import { FakeObjects } from "./fake-objects.js";
import { as, startRestServer } from "./rest-server.js";

const calls: unknown[] = [];

const operations: readonly Operation[] = [
  defineOperation({
    name: "thing.set",
    summary: "Sets a thing.",
    params: Type.Object({
      id: Type.String(),
      name_label: Type.Optional(Type.String({ maxLength: 5 })),
      size: Type.Optional(Type.Integer()),
      isDry: Type.Optional(Type.Boolean()),
    }),
    result: Type.Boolean(),
    permission: "viewer",
    rest: {
      method: "patch",
      path: "/things/{id}",
      operationId: "UpdateThing",
      body: { nameLabel: "name_label" },
    },
    handler: (params) => {
      calls.push(params);
      return true;
    },
  }),
  defineOperation({
    name: "thing.create",
    summary: "Makes a thing.",
    params: Type.Object({ name: Type.String() }),
    result: Type.String(),
    permission: "admin",
    rest: {
      method: "post",
      path: "/things",
      operationId: "CreateThing",
      status: 201,
    },
    handler: ({ name }) => {
      if (name === "there")
        throw new XoError("ALREADY_EXISTS", { type: "thing" });
      if (name === "xapi") throw new XapiError("SR_FULL", ["a", "b"]);
      if (name === "bug") throw new Error("inside");
      return `id of ${name}`;
    },
  }),
  defineOperation({
    name: "thing.getAll",
    summary: "All things.",
    params: Type.Object({}),
    result: Type.Array(Type.Unknown()),
    permission: "viewer",
    rest: { method: "get", path: "/things", operationId: "GetThings" },
    handler: () => [
      { id: "a", n: 1 },
      { id: "b c", n: 2 },
    ],
  }),
  defineOperation({
    name: "cluster.things",
    summary: "Things without ids.",
    params: Type.Object({}),
    result: Type.Array(Type.Object({ name: Type.String() })),
    permission: "viewer",
    rest: {
      method: "get",
      path: "/cluster/things",
      operationId: "GetClusterThings",
    },
    handler: () => [{ name: "one" }, { name: "two" }],
  }),
  defineOperation({
    name: "thing.get",
    summary: "One thing.",
    params: Type.Object({
      id: Type.String(),
      deep: Type.Optional(Type.Boolean()),
      raw: Type.Optional(
        Type.Union([Type.Boolean(), Type.Enum(["true", "false", ""])]),
      ),
    }),
    result: Type.Object({}),
    permission: "viewer",
    rest: { method: "get", path: "/things/{id}", operationId: "GetThing" },
    handler: (params) => params,
  }),
  defineOperation({
    name: "part.getAll",
    summary: "Parts, which are in no folder.",
    params: Type.Object({ id: Type.String() }),
    result: Type.Array(Type.Unknown()),
    permission: "viewer",
    rest: {
      method: "get",
      path: "/things/{id}/parts",
      operationId: "GetParts",
    },
    handler: ({ id }) => [{ id: "p", of: id }],
  }),
  defineOperation({
    name: "user.get",
    summary: "A user.",
    params: Type.Object({ id: Type.String() }),
    result: Type.Object({}),
    permission: "user",
    rest: { method: "get", path: "/users/{id}", operationId: "GetUser" },
    handler: (params) => params,
  }),
  defineOperation({
    name: "vm.poke",
    summary: "Pokes a VM.",
    params: Type.Object({ id: Type.String() }),
    result: Type.Boolean(),
    permission: { action: "operate:use", resource: "VM", id: ({ id }) => id },
    rest: {
      method: "put",
      path: "/vms/{id}/poke",
      operationId: "PokeVm",
      status: 204,
    },
    handler: () => true,
  }),
];

function body(
  value: unknown,
  method = "POST",
  way: RequestInit = as("admin"),
): RequestInit {
  const { headers } = way;
  return {
    method,
    body: typeof value === "string" ? value : JSON.stringify(value),
    headers: { ...(headers as object), "content-type": "application/json" },
  };
}

t.test("parameters come from path, query and body", async (t) => {
  const { get, json } = await startRestServer(t, { operations });
  const answer = await get(
    "/things/a%20b?isDry=true&unknown=1",
    body({ nameLabel: "x", size: 3 }, "PATCH"),
  );
  t.equal(answer.status, 204);
  t.equal(await answer.text(), "");
  t.same(calls.pop(), { id: "a b", name_label: "x", size: 3, isDry: true });
  t.same(await json("/things/b?deep=false"), { id: "b", deep: false });
  t.same(await json("/things/b?deep=True"), { id: "b", deep: true });
  t.same(await json("/things/b?deep=FALSE"), { id: "b", deep: false });
  t.same(await json("/things/b?raw=True"), { id: "b", raw: true });
  t.same(await json("/things/b?raw="), { id: "b", raw: "" });
  await json("/things/b?deep=yes", {}, 422);
  const over = body({ id: "other", size: 1 }, "PATCH");
  await get("/things/own", over);
  t.match(calls.pop(), { id: "own" }, "the path has precedence");
});

t.test("errors have the parameter name that the client used", async (t) => {
  const { json } = await startRestServer(t, { operations });
  const patch = (value: unknown) => body(value, "PATCH");
  t.match(await json("/things/a", patch({ nameLabel: "too long" }), 422), {
    error: { "body.nameLabel": { message: /5 characters/ } },
    data: {},
  });
  t.match(await json("/things/a", patch({ x: 1, size: "1" }), 422), {
    error: {
      "body.x": {
        message: '"x" is an excess property and therefore is not allowed',
      },
      "body.size": { message: /integer/ },
    },
  });
  t.match(await json("/things", body({}), 422), {
    error: { "body.name": { message: "'name' is required" } },
  });
  t.match(await json("/things/a?isDry=1", patch({}), 422), {
    error: { isDry: { message: "invalid boolean value", value: "1" } },
  });
  await json("/things/a", patch([1]), 422);
  await json("/things/a", patch('{"__proto__":{"size":1}}'), 422);
  await json("/things", body("{"), 400);
  const invalid = Buffer.from('{"nameLabel":"\xff"}', "latin1");
  const answer = await json("/things", { ...body("{}"), body: invalid }, 400);
  t.match(answer, { error: /the body is not UTF-8/ });
});

t.test("an empty body with the type JSON is accepted", async (t) => {
  const { get } = await startRestServer(t, { operations });
  t.equal((await get("/things/a", body("", "PATCH"))).status, 204);
  t.equal((await get("/things/a", { method: "PATCH" })).status, 204);
});

t.test("a created object is returned with its location", async (t) => {
  const { get } = await startRestServer(t, { operations });
  const answer = await get("/things", body({ name: "x y" }));
  t.equal(answer.status, 201);
  t.equal(answer.headers.get("location"), "/rest/v0/things/id%20of%20x%20y");
  t.same(await answer.json(), { id: "id of x y" });
});

t.test("errors have the status of the table", async (t) => {
  const { json } = await startRestServer(t, {
    operations,
    users: { some: [] },
  });
  t.match(await json("/things", body({ name: "there" }), 409), {
    error: "thing already exists",
  });
  t.same(await json("/things", body({ name: "xapi" }), 500), {
    error: "SR_FULL(a, b)",
    info: "This is a XenServer/XCP-ng error, not an XO error",
  });
  t.same(await json("/things", body({ name: "bug" }), 500), {
    error: "internal error",
  });
  t.match(await json("/things", body({ name: "x" }, "POST", as("some")), 403), {
    error: "not enough permissions",
  });
  await json("/things", body({ name: "x" }, "POST", {}), 401);
});

t.test("a list of an operation is a list like any other", async (t) => {
  const { get, json } = await startRestServer(t, { operations });
  t.same(await json("/things"), ["/rest/v0/things/a", "/rest/v0/things/b%20c"]);
  t.same(await json("/things?fields=n&filter=n:>1"), [
    { n: 2, href: "/rest/v0/things/b%20c" },
  ]);
  t.equal(
    await (await get("/things?fields=id,n&markdown=true&limit=1")).text(),
    "| id | n |\n| --- | --- |\n| a | 1 |\n",
  );
  t.match(
    await json("/things/x/parts"),
    [{ id: "p", of: "x" }],
    "an operation without a folder is refused at once",
  );
});

t.test("objects with names have no link to those with ids", async (t) => {
  const { json } = await startRestServer(t, { operations });
  // `things/{id}` exists, but these are others.
  const named = [{ name: "one" }, { name: "two" }];
  t.same(await json("/cluster/things"), named);
  t.same(await json("/cluster/things?fields=name"), named);
});

t.test("/users/me is the current user", async (t) => {
  const { json } = await startRestServer(t, { operations });
  t.same(await json("/users/me", as("admin")), { id: "id-of-admin" });
  t.same(await json("/users/x", as("admin")), { id: "x" });
  await json("/users/me", undefined, 401);
});

t.test("the dispatcher checks what may be done to an object", async (t) => {
  const objects = new FakeObjects([{ id: "v", type: "VM" }]);
  const read = { effect: "allow", resource: "VM", action: "read" } as const;
  const users = { reader: [read], none: [] };
  const { get, json } = await startRestServer(t, {
    objects,
    operations,
    users,
  });
  const put = (name: string) => ({ ...as(name), method: "PUT" });
  t.equal((await get("/vms/v/poke", put("admin"))).status, 204);
  t.match(await json("/vms/v/poke", put("reader"), 403), {
    error: "not enough privileges",
    data: { missingPrivileges: [{ objectId: "v", action: "operate:use" }] },
  });
  await json("/vms/v/poke", put("none"), 404);
  await json("/vms/absent/poke", put("admin"), 404);
});
