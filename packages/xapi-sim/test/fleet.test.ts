import { NULL_REF, datamodel } from "@xo-server/model";
import t from "tap";
import { fieldType, type FieldType } from "../src/field-type.js";
import { generateFleet } from "../src/fleet/generate-fleet.js";
import { profiles } from "../src/fleet/profiles.js";
import { linksOf } from "../src/relations.js";
import type { FleetObject, XapiValue } from "../src/xapi-value.js";

const fleetC = [...generateFleet({ hosts: 3, vms: 60, seed: 1 })];
const byRef = new Map(fleetC.map((object) => [object.ref, object]));
const ofClass = (className: string) =>
  fleetC.filter((object) => object.className === className);

t.test(
  "the same seed gives the same fleet, another seed another",
  async (t) => {
    const again = [...generateFleet({ hosts: 3, vms: 60, seed: 1 })];
    t.strictSame(again, fleetC);
    const other = [...generateFleet({ hosts: 3, vms: 60, seed: 2 })];
    const guests = other.filter(({ className }) => className === "VM");
    t.notOk(guests.some(({ ref }) => byRef.has(ref)));
  },
);

t.test(
  "every record has all the fields of its class in order, each of its type",
  async (t) => {
    const wrong: string[] = [];
    for (const { className, record } of fleetC) {
      const fields = datamodel.classes[className]!.fields;
      const names = Object.keys(fields);
      if (names.join() !== Object.keys(record).join()) wrong.push(className);
      for (const name of names)
        if (!fits(record[name], fieldType(fields[name]!.type)))
          wrong.push(`${className}.${name} = ${JSON.stringify(record[name])}`);
    }
    t.strictSame([...new Set(wrong)].slice(0, 10), []);
  },
);

t.test("references and uuids are unique", async (t) => {
  t.equal(byRef.size, fleetC.length);
  t.equal(
    new Set(fleetC.map(({ record }) => record["uuid"])).size,
    fleetC.length,
  );
});

t.test("all references lead to an object of the right class", async (t) => {
  const dangling: string[] = [];
  for (const { className, record } of fleetC)
    for (const [name, { type }] of Object.entries(
      datamodel.classes[className]!.fields,
    )) {
      const target = referredClass(fieldType(type));
      if (target === undefined) continue;
      for (const ref of [record[name]].flat() as string[])
        if (ref !== NULL_REF && byRef.get(ref)?.className !== target)
          dangling.push(`${className}.${name}`);
    }
  t.strictSame([...new Set(dangling)], []);
});

t.test("both sides of every relation agree", async (t) => {
  const broken = new Set<string>();
  for (const { className, ref, record } of fleetC)
    for (const { field, otherField } of linksOf(className))
      for (const target of [record[field]].flat() as string[]) {
        if (target === NULL_REF) continue;
        const others = byRef.get(target)!.record[otherField] as string[];
        if (others.filter((other) => other === ref).length !== 1)
          broken.add(`${className}.${field}`);
      }
  for (const { className, record } of fleetC)
    for (const [from, to] of datamodel.relations) {
      const [otherClass, field] = to.split(".") as [string, string];
      const back = from.split(".")[1]!;
      if (
        otherClass !== className ||
        !Array.isArray(record[field]) ||
        from === to
      )
        continue;
      for (const ref of record[field] as string[])
        if (![byRef.get(ref)!.record[back]].flat().includes(refOf(record)))
          broken.add(to);
    }
  t.strictSame([...broken], []);
});

t.test("running guests fit into the memory of their hosts", async (t) => {
  for (const host of ofClass("host")) {
    const metrics = byRef.get(host.record["metrics"] as string)!.record;
    const used = (host.record["resident_VMs"] as string[])
      .map((ref) => byRef.get(ref)!.record)
      .reduce((sum, vm) => sum + (vm["memory_dynamic_max"] as number), 0);
    t.ok(
      used + (metrics["memory_free"] as number) <=
        (metrics["memory_total"] as number),
    );
    t.ok((metrics["memory_free"] as number) >= 0);
  }
});

t.test(
  "most guests run, and each has disks, a CD drive, interfaces and consoles",
  async (t) => {
    const guests = ofClass("VM").filter(
      ({ record }) =>
        record["is_a_template"] === false &&
        record["is_control_domain"] === false,
    );
    t.equal(guests.length, 60);
    const running = guests.filter(
      ({ record }) => record["power_state"] === "Running",
    );
    t.ok(
      running.length > 42 && running.length < 59,
      `${running.length} of 60 run`,
    );
    for (const { record } of running) {
      t.equal((record["consoles"] as string[]).length, 2);
      t.not(record["resident_on"], NULL_REF);
      const drives = (record["VBDs"] as string[]).map(
        (ref) => byRef.get(ref)!.record,
      );
      t.ok(
        drives.some(({ type }) => type === "CD") &&
          drives.some(({ type }) => type === "Disk"),
      );
      const places = drives.map(({ userdevice }) => userdevice);
      t.equal(
        new Set(places).size,
        places.length,
        "no two devices in one place",
      );
    }
  },
);

t.test("hosts and consoles report their configured addresses", async (t) => {
  const addresses = ["127.0.0.1:4001", "127.0.0.1:4002"];
  const fleet = [...generateFleet({ hosts: 3, vms: 5, seed: 7, addresses })];
  const hosts = fleet.filter(({ className }) => className === "host");
  t.strictSame(
    hosts.map(({ record }) => record["address"]),
    [...addresses, "127.10.0.3"],
  );
  const locations = fleet
    .filter(({ className }) => className === "console")
    .map(({ record, ref }) => (record["location"] as string).replace(ref, ""));
  t.ok(locations.includes("https://127.0.0.1:4001/console?ref="));
});

t.test("the profiles are realistic for placement", async (t) => {
  const profile = profiles.C;
  const fleet = [...generateFleet({ hosts: 3, vms: 60, seed: 3, profile })];
  const all = (className: string) =>
    fleet.filter((object) => object.className === className);
  const vms = all("VM").map(({ record }) => record);
  const sizes = all("host_metrics").map(({ record }) => record["memory_total"]);
  t.equal(new Set(sizes).size, 3, "no host is like the other");
  for (const { record } of all("host_metrics"))
    t.ok((record["memory_free"] as number) >= 0);
  const priorities = new Set(vms.map((vm) => vm["ha_restart_priority"]));
  t.same([...priorities].sort(), ["", "best-effort", "restart"]);
  t.ok(vms.some((vm) => (vm["start_delay"] as number) > 0));
  const busy = vms.filter((vm) =>
    Object.hasOwn(vm["other_config"] as object, "sim:load"),
  );
  t.ok(busy.length > 3);
  t.equal(new Set(busy.map((vm) => vm["resident_on"])).size, 1, "on one host");
  const breach = all("VM_group").filter(({ ref, record }) => {
    const members = vms.filter((vm) =>
      (vm["groups"] as string[]).includes(ref),
    );
    const hosts = new Set(members.map((vm) => vm["resident_on"]));
    return (
      record["placement"] === "anti_affinity" && hosts.size < members.length
    );
  });
  t.ok(breach.length > 0, "a group that is to keep apart does not");
});

function refOf(record: FleetObject["record"]): string {
  return refByUuid.get(record["uuid"] as string)!;
}
const refByUuid = new Map(
  fleetC.map(({ ref, record }) => [record["uuid"] as string, ref]),
);

function referredClass(type: FieldType): string | undefined {
  if (type.kind === "ref") return type.className;
  return type.kind === "set" ? referredClass(type.of) : undefined;
}

function fits(value: XapiValue | undefined, type: FieldType): boolean {
  switch (type.kind) {
    case "int":
      return Number.isInteger(value);
    case "float":
      return typeof value === "number";
    case "bool":
      return typeof value === "boolean";
    case "set":
      return (
        Array.isArray(value) &&
        value.every((item) => fits(item as XapiValue, type.of))
      );
    case "map":
      return (
        typeof value === "object" &&
        !Array.isArray(value) &&
        Object.values(value).every((item) => fits(item, type.value))
      );
    case "enum":
      return datamodel.enums[type.name]!.includes(value as string);
    case "datetime":
      return /^\d{8}T\d\d:\d\d:\d\dZ$/.test(value as string);
    case "ref":
      return typeof value === "string" && value.startsWith("OpaqueRef:");
    case "string":
      return typeof value === "string";
    case "option":
    case "record":
    case "any":
      return false;
  }
}
