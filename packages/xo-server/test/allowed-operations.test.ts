import t from "tap";
import { allowedOperationsOperations } from "../src/methods/objects/allowed-operations.js";
import { operations } from "../src/methods/all.js";
import type { AuthenticatedUser } from "../src/auth/users/authenticated-user.js";
import type { Services } from "../src/methods/definition/services.js";
import { Rights } from "../src/rights/rights.js";
import type { SelectingPrivilege } from "../src/rights/rights.js";
import { slices } from "./placement/slices.js";
import { createTestDispatcher } from "./test-dispatcher.js";

const objects = new Map(
  ["mine", "seen", "hidden"].map((id) => [
    id,
    {
      id,
      type: "VM",
      pool: "p",
      json: Buffer.from(JSON.stringify({ id, type: "VM" })),
    },
  ]),
);

const allow = (action: string, ...ids: string[]): SelectingPrivilege => ({
  effect: "allow",
  resource: "VM",
  action,
  selector: `id:|(${ids.join(" ")})`,
});

function request(rights: Rights, isAdmin = false) {
  const inventory = slices();
  const dispatcher = createTestDispatcher(operations, {
    findObject: (id) => objects.get(id) as never,
    services: { inventory } as unknown as Partial<Services>,
  });
  const user = { id: "u", isAdmin, rights } as unknown as AuthenticatedUser;
  return dispatcher.call(
    allowedOperationsOperations[0]!.name,
    {
      ids: [...objects.keys(), "gone"],
      operations: [
        { method: "vm.start" },
        { method: "vm.delete" },
        { method: "vm.copy", idParameter: "vm" },
        { method: "user.create" },
        { method: "no.such" },
      ],
    },
    { user, permission: isAdmin ? "admin" : "user", address: "" } as never,
  );
}

t.test("rights decide per object which operations may be called", async (t) => {
  const rights = new Rights([
    allow("read", "mine", "seen"),
    allow("operate", "mine"),
  ]);
  t.same(await request(rights), {
    mine: ["vm.start"],
    seen: [],
    hidden: [],
    gone: [],
  });
});

t.test("an administrator may do all that exists", async (t) => {
  const all = ["vm.start", "vm.delete", "vm.copy", "user.create"];
  const answer = (await request(Rights.all, true)) as Record<string, string[]>;
  t.same(answer["hidden"], all);
  t.same(answer["gone"], ["user.create"]);
});
