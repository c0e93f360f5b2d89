import t from "tap";
import { parseFilter, propertiesOf, compileFilter } from "@xo-server/inventory";
import {
  checkProperties,
  checkRequestedProperties,
  type NamedProperties,
} from "../src/objects/known-properties.js";

const reasonOf = (request: NamedProperties): string => {
  try {
    checkProperties({ type: "VM", ...request });
    return "";
  } catch (error) {
    return (error as { data: { reason: string } }).data.reason;
  }
};

t.test("both notations name the same property", async (t) => {
  const vm = { memory: { size: 2 ** 33 }, other: { "a.b": "x" }, tags: ["t"] };
  for (const filter of [
    "memory.size:>=8GiB",
    "memory:size:>=8GiB",
    "memory.size:>=8589934592",
    "memory.size?",
    "other:a.b:x",
    "memory.size:>=8.0gib memory.size:<9GB",
  ])
    t.ok(compileFilter(parseFilter(filter))(vm), filter);
  for (const path of ["memory.size", "memory:size", "now.cpu", "now:cpu"]) {
    t.equal(reasonOf({ filter: `${path}:>1` }), "");
    t.equal(
      reasonOf({ fields: [path], sort: [{ by: path }], paths: [path] }),
      "",
    );
  }
});

t.test("an unknown property of a known type is refused", async (t) => {
  const reason =
    'unknown property "power_stat" of VM; did you mean "power_state"?';
  t.equal(reasonOf({ filter: "!tags:a |(b power_stat:Running)" }), reason);
  t.equal(reasonOf({ fields: ["id", "power_stat"] }), reason);
  t.equal(reasonOf({ sort: [{ by: "power_stat" }] }), reason);
  t.match(reasonOf({ fields: ["nosuch"] }), /nearest known property/);
  t.equal(reasonOf({ type: "custom", fields: ["nosuch"] }), "");
});

t.test("a property of another type is accepted", async (t) => {
  // A search over several types requests the same fields of all.
  t.equal(reasonOf({ type: "host", fields: ["power_state", "$SR"] }), "");
  t.equal(reasonOf({ type: "message", filter: "name_label:a" }), "");
});

t.test("an unknown type is refused, with the nearest or all", async (t) => {
  const queries = { page: async () => ({ rows: [] }) as never };
  const check = (type: string) => checkRequestedProperties({ type }, queries);
  await t.rejects(check("vm"), /unknown type "vm"; did you mean "VM"\?$/);
  await t.rejects(
    check("virtual-machine"),
    /unknown type "virtual-machine"; known types: .*VM, /,
  );
  await check("VM");
});

t.test("a property that an object has is accepted", async (t) => {
  const rows = [Buffer.from('{"newer":1}')];
  const queries = { page: async () => ({ rows }) as never };
  const request = (field: string) => ({ type: "VM", fields: [field] });
  await checkRequestedProperties(request("newer"), queries);
  await t.rejects(checkRequestedProperties(request("other2"), queries), {
    code: "INVALID_PARAMETERS",
  });
  t.ok(propertiesOf("VM-snapshot")?.has("$snapshot_of"));
});
