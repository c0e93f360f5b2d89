import type { CatalogEntry } from "@xo-server/inventory";
import t from "tap";
import { Type } from "typebox";
import {
  defineOperation,
  toCallContext,
  type CallContext,
} from "../src/operations/operation.js";
import type { AuthenticatedUser } from "../src/auth/users/authenticated-user.js";
import { toAclPrivileges } from "../src/rights/acl-privileges.js";
import { Rights, type SelectingPrivilege } from "../src/rights/rights.js";
import { FakeClient } from "./fake-client.js";
import { createTestDispatcher } from "./test-dispatcher.js";

const drop = () => undefined;
const logger = { debug: drop, info: drop, warn: drop, error: drop };

const objects = [
  { id: "vm1", type: "VM", $pool: "p", $container: "h1", tags: ["prod"] },
  { id: "vm2", type: "VM", $pool: "p", $container: "h2", tags: [] },
  { id: "h1", type: "host", $pool: "p" },
];

function entryOf(id: string): CatalogEntry | undefined {
  const object = objects.find((one) => one.id === id);
  if (object === undefined) return undefined;
  const json = Buffer.from(JSON.stringify(object));
  return { id, type: object.type, pool: "P", json };
}

const dispatcher = createTestDispatcher(
  [
    defineOperation({
      name: "vm.start",
      summary: "Starts.",
      params: Type.Object({ id: Type.String({ minLength: 1 }) }),
      result: Type.String(),
      permission: {
        action: "operate:start",
        resource: "VM",
        id: ({ id }) => id,
      },
      handler: ({ id }) => `${id} started`,
    }),
    defineOperation({
      name: "vm.look",
      summary: "Looks.",
      params: Type.Object({ id: Type.String() }),
      result: Type.String(),
      permission: { action: "read", resource: "VM", id: ({ id }) => id },
      handler: ({ id }) => `${id} seen`,
    }),
    defineOperation({
      name: "tag.add",
      summary: "Tags.",
      params: Type.Object({ id: Type.String() }),
      result: Type.Boolean(),
      permission: {
        action: "administrate:set",
        resource: "*",
        id: ({ id }) => id,
      },
      handler: () => true,
    }),
  ],
  { logger, findObject: entryOf },
);

const allow = (
  action: string,
  selector?: string,
  resource = "VM",
): SelectingPrivilege => ({
  effect: "allow",
  action,
  resource,
  ...(selector === undefined ? {} : { selector }),
});

function caller(
  privileges: readonly SelectingPrivilege[] | undefined,
  isAdmin = false,
): CallContext {
  const client = new FakeClient();
  const person: AuthenticatedUser | undefined = privileges && {
    id: "u",
    name: "u",
    groups: [],
    isAdmin,
    rights: new Rights(privileges),
  };
  if (person !== undefined)
    client.setSession({ userId: "u", user: () => person });
  return toCallContext(client, "192.0.2.7", "guest");
}

const call = (name: string, id: unknown, context: CallContext) =>
  dispatcher.call(name, { id }, context).catch((error: unknown) => error);

t.test("anonymous clients learn nothing of objects", async (t) => {
  for (const id of ["vm1", "none", ""])
    t.match(await call("vm.start", id, caller(undefined)), {
      code: "UNAUTHORIZED",
    });
});

t.test("demo clients read objects, and change nothing", async (t) => {
  const guest = caller(undefined);
  const viewer = toCallContext(new FakeClient(), "192.0.2.7", "viewer");
  const refused = { code: "UNAUTHORIZED" };
  t.equal(await call("vm.look", "vm1", viewer), "vm1 seen");
  t.match(await call("vm.look", "vm1", guest), refused, "not of real pools");
  t.match(await call("vm.look", "none", viewer), refused);
  t.match(await call("vm.look", "h1", viewer), refused, "is not a VM");
  t.match(await call("vm.start", "vm1", viewer), refused);
});

t.test("unreadable objects do not exist for the caller", async (t) => {
  const missing = { code: "NO_SUCH_OBJECT", data: { type: "VM" } };
  const prod = caller([allow("read", "tags:prod"), allow("operate")]);
  t.equal(await call("vm.start", "vm1", prod), "vm1 started");
  t.match(await call("vm.start", "vm2", prod), missing, "may not be read");
  t.match(await call("vm.start", "none", prod), missing);
  t.match(await call("vm.start", "h1", prod), missing, "is not a VM");
  t.match(await call("vm.start", "vm1", caller([])), missing);
});

t.test("a missing right for an operation is named", async (t) => {
  const reader = caller([allow("read"), allow("operate:stop")]);
  t.match(await call("vm.start", "vm1", reader), {
    code: "FORBIDDEN",
    data: {
      missingPrivileges: [
        { objectId: "vm1", action: "operate:start", resource: "VM" },
      ],
    },
  });
  const denied = { ...allow("operate:start"), effect: "deny" } as const;
  const operator = caller([allow("read"), allow("operate"), denied]);
  t.match(await call("vm.start", "vm1", operator), { code: "FORBIDDEN" });
});

t.test("resources are compared without regard to case", async (t) => {
  const context = caller([allow("*", undefined, "vm")]);
  t.equal(await call("vm.start", "vm2", context), "vm2 started");
});

t.test("an admin needs no privileges, but an object", async (t) => {
  const admin = caller([], true);
  t.equal(await call("vm.start", "vm1", admin), "vm1 started");
  t.match(await call("vm.start", "none", admin), { code: "NO_SUCH_OBJECT" });
  t.equal(await call("tag.add", "h1", admin), true, "`*` is any type");
  t.match(await call("vm.start", 7, admin), { code: "INVALID_PARAMETERS" });
});

t.test("an ACL applies to its object and the object's devices", async (t) => {
  const acls = [
    { object: "h1", action: "operator" },
    { object: "vm2", action: "viewer" },
    { object: "vm2", action: "unknown" },
  ];
  const context = caller(toAclPrivileges(acls));
  t.equal(await call("vm.start", "vm1", context), "vm1 started");
  t.match(await call("vm.start", "vm2", context), { code: "FORBIDDEN" });
  t.match(await call("tag.add", "h1", context), { code: "FORBIDDEN" });
  const owner = caller(toAclPrivileges([{ object: "p", action: "admin" }]));
  t.equal(await call("tag.add", "h1", owner), true);
});
