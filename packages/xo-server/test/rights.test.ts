import t from "tap";
import { builtInRoles } from "../src/rights/built-in-roles.js";
import type { Privilege } from "../src/rights/privilege.js";
import { Rights } from "../src/rights/rights.js";

const web = { id: "1", type: "VM", name_label: "web", tags: ["prod"] };
const db = { id: "2", type: "VM", name_label: "db", tags: ["prod", "db"] };
const lab = { id: "3", type: "VM", name_label: "lab", tags: [] };

const allow = (action: string, more: Partial<Privilege> = {}): Privilege => ({
  effect: "allow",
  resource: "*",
  action,
  ...more,
});
const deny = (action: string, more: Partial<Privilege> = {}): Privilege => ({
  ...allow(action, more),
  effect: "deny",
});

function readers(rights: Rights): string[] {
  return [web, db, lab]
    .filter((vm) => rights.may("read", "VM", vm))
    .map(({ name_label }) => name_label);
}

t.test("what nothing allows is not allowed", async (t) => {
  t.equal(Rights.none.extent("read", "VM"), "none");
  t.same(readers(Rights.none), []);
  t.same(readers(new Rights([allow("read", { resource: "host" })])), []);
});

t.test("an action covers those under it, and no other", async (t) => {
  const rights = new Rights([allow("operate")]);
  t.equal(rights.extent("operate:start", "VM"), "all");
  t.equal(rights.extent("operate", "VM"), "all");
  t.equal(rights.extent("operated", "VM"), "none");
  t.equal(rights.extent("read", "VM"), "none");
  t.equal(new Rights([allow("operate:start")]).extent("operate", "VM"), "none");
});

t.test("a selector narrows a privilege", async (t) => {
  t.same(readers(new Rights([allow("read", { selector: "tags:prod" })])), [
    "web",
    "db",
  ]);
});

t.test("privileges of several roles add up", async (t) => {
  const rights = new Rights([
    allow("read", { selector: "tags:db" }),
    allow("read", { selector: "name_label:lab" }),
  ]);
  t.same(readers(rights), ["db", "lab"]);
});

t.test("what is denied is denied, whatever else is allowed", async (t) => {
  t.same(
    readers(new Rights([allow("*"), deny("read", { selector: "tags:db" })])),
    ["web", "lab"],
  );
  t.same(
    readers(
      new Rights([
        allow("read", { selector: "tags:prod" }),
        deny("*", { selector: "tags:db" }),
      ]),
    ),
    ["web"],
  );
  t.equal(
    new Rights([allow("*"), deny("operate")]).extent("operate:start", "VM"),
    "none",
  );
});

t.test("an extent keeps its identity", async (t) => {
  const rights = new Rights([allow("read", { selector: "tags:db" })]);
  t.equal(rights.extent("read", "VM"), rights.extent("read", "VM"));
});

t.test("an empty selector means all, a broken one is refused", async (t) => {
  t.equal(
    new Rights([allow("read", { selector: " " })]).extent("read", "VM"),
    "all",
  );
  t.throws(() => new Rights([allow("read", { selector: "(" })]), {
    code: "FILTER_INVALID",
  });
});

t.test("the roles from the start each include the one before", async (t) => {
  const [viewer, operator, admin] = builtInRoles.map(
    ({ privileges }) => new Rights(privileges),
  );
  t.equal(viewer!.extent("read", "VM"), "all");
  t.equal(viewer!.extent("operate:start", "VM"), "none");
  t.equal(operator!.extent("read", "VM"), "all");
  t.equal(operator!.extent("operate:start", "VM"), "all");
  t.equal(operator!.extent("administrate:delete", "VM"), "none");
  t.equal(admin!.extent("administrate:delete", "VM"), "all");
});

t.test(
  "a test names what it looks at, and looks at nothing else",
  async (t) => {
    const fieldsOf = (...privileges: Privilege[]) => {
      const extent = new Rights(privileges).extent("read", "VM");
      return typeof extent === "function" ? extent.fields : extent;
    };
    const read = (selector: string) => allow("read", { selector });
    t.same(fieldsOf(read("tags:db")), ["tags"]);
    t.same(fieldsOf(read("tags:db"), read("!$pool:x")), ["tags", "$pool"]);
    t.same(fieldsOf(allow("read"), deny("read", { selector: "id:1" })), ["id"]);
    t.same(fieldsOf(read("a:1"), deny("read", { selector: "|(b? c:d:>2)" })), [
      "a",
      "b",
      "c",
    ]);
    t.equal(fieldsOf(read("tags:db"), read("web")), undefined, "anywhere");
  },
);
