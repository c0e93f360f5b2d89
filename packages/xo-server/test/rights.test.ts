import type { ViewObject } from "@xo-server/inventory";
import t from "tap";
import { toAclPrivileges } from "../src/rights/acl-privileges.js";
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

t.test("operations without a grant are denied", async (t) => {
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

t.test("a denial overrides all grants", async (t) => {
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

t.test("an empty selector means all, an invalid one is refused", async (t) => {
  t.equal(
    new Rights([allow("read", { selector: " " })]).extent("read", "VM"),
    "all",
  );
  t.throws(() => new Rights([allow("read", { selector: "(" })]), {
    code: "FILTER_INVALID",
  });
});

t.test("each built-in role includes the previous one", async (t) => {
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

t.test("a test reads only the properties that it names", async (t) => {
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
});

/** Two VMs on one network and one SR; the second has a snapshot. */
const inventory: readonly (ViewObject & { readonly type: string })[] = [
  { id: "net", type: "network" },
  { id: "sr", type: "SR" },
  ...["a", "b"].flatMap((vm) => [
    { id: vm, type: "VM", tags: vm === "b" ? ["secret"] : [] },
    { id: `${vm}-vif`, type: "VIF", $VM: vm, $network: "net" },
    { id: `${vm}-vbd`, type: "VBD", VM: vm, VDI: `${vm}-vdi` },
    { id: `${vm}-vdi`, type: "VDI", $SR: "sr", $VBDs: [`${vm}-vbd`] },
  ]),
  { id: "iso", type: "VDI", $SR: "isos", $VBDs: ["a-cd", "b-cd"] },
  { id: "a-cd", type: "VBD", VM: "a", VDI: "iso", is_cd_drive: true },
  { id: "b-cd", type: "VBD", VM: "b", VDI: "iso", is_cd_drive: true },
  { id: "s", type: "VM-snapshot", $snapshot_of: "b" },
  { id: "s-vbd", type: "VBD", VM: "s", VDI: "s-vdi" },
  { id: "s-vdi", type: "VDI-snapshot", $SR: "sr", $VBDs: ["s-vbd"] },
  { id: "message", type: "message", $object: "b" },
  { id: "pif", type: "PIF", $host: "h", $network: "net" },
];

const find = (id: string) => {
  const object = inventory.find((one) => one.id === id);
  return object === undefined ? undefined : { type: object.type, object };
};

function readable(rights: Rights): string[] {
  return inventory
    .filter((object) => rights.may("read", object.type, object))
    .map(({ id }) => String(id));
}

t.test("an ACL includes the devices of the object", async (t) => {
  const aclOf = (object: string) =>
    readable(new Rights(toAclPrivileges([{ object, action: "viewer" }]), find));
  t.same(aclOf("net"), ["net"], "not the VIFs of all VMs, nor PIFs");
  t.same(aclOf("iso"), ["iso"], "not the CD drives of all VMs");
  t.same(aclOf("a"), ["a", "a-vif", "a-vbd", "a-cd"]);
  t.same(aclOf("sr"), ["sr", "a-vdi", "b-vdi", "s-vdi"], "all disks on it");
});

t.test("a denial includes the devices of a VM", async (t) => {
  const hidden = (...privileges: Privilege[]) => {
    const shown = readable(new Rights([allow("*"), ...privileges], find));
    return inventory
      .map(({ id }) => String(id))
      .filter((id) => !shown.includes(id));
  };
  const ofB = [
    "b",
    "b-vif",
    "b-vbd",
    "b-vdi",
    "b-cd",
    "s",
    "s-vbd",
    "s-vdi",
    "message",
  ];
  for (const selector of ["id:b", "tags:secret"])
    t.same(hidden(deny("*", { resource: "VM", selector })), ofB, selector);
  t.same(hidden(deny("read", { selector: "tags:secret" })), ofB, "of any type");
  t.same(
    hidden(deny("*", { resource: "VM-snapshot" })),
    ["s", "s-vbd", "s-vdi"],
    "of all snapshots",
  );
  t.same(hidden(deny("operate", { resource: "VM", selector: "id:b" })), []);
  t.same(hidden(deny("*", { resource: "network" })), ["net"]);
});
