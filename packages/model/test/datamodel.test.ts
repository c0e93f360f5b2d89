import t from "tap";
import {
  NULL_REF,
  classNameOf,
  columnsByClass,
  columnsOf,
  datamodel,
  hashRef,
  integerFields,
  isRef,
  mirroredClasses,
} from "@xo-server/model";

t.test(
  "event.from's lower-case class names match the datamodel's",
  async (t) => {
    t.equal(classNameOf("vm_guest_metrics"), "VM_guest_metrics");
    t.equal(classNameOf("pif"), "PIF");
    t.equal(classNameOf("something_new"), "something_new");
  },
);

t.test("classes without listing or events are not mirrored", async (t) => {
  for (const name of ["VM", "host", "pool", "task", "message"])
    t.ok(mirroredClasses().includes(name), name);
  for (const name of ["session", "user", "secret", "VMPP", "event"])
    t.notOk(mirroredClasses().includes(name), name);
});

t.test("integers are found as values, in sets and in maps", async (t) => {
  t.equal(integerFields("VM")["memory_static_max"], "value");
  t.equal(integerFields("PIF")["VLAN"], "value");
  t.equal(integerFields("VBD_metrics")["io_read_kbs"], undefined);
  t.equal(integerFields("Cluster")["pending_forget"], undefined);
  t.same(integerFields("no such class"), {});
});

t.test("every column is a field of its class", async (t) => {
  for (const [name, columns] of Object.entries(columnsByClass))
    for (const column of columns)
      t.ok(
        datamodel.classes[name]?.fields[column],
        `${name}.${column} is in the data model`,
      );
  t.same(columnsOf("Bond"), ["uuid", "name_label"]);
  t.same(columnsOf("__proto__"), ["uuid", "name_label"]);
});

t.test("the null reference points nowhere", async (t) => {
  t.notOk(isRef(NULL_REF));
  t.notOk(isRef(""));
  t.notOk(isRef(null));
  t.ok(isRef("OpaqueRef:0"));
});

t.test("the hash of a reference is FNV-1a", async (t) => {
  // Published test vector of 32-bit FNV-1a: "foobar" gives 0xbf9cf968.
  const bytes = new TextEncoder().encode("..foobar.");
  t.equal(hashRef(bytes, 2, 6) >>> 0, 0xbf9cf968);
});
