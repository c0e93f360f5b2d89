import t from "tap";
import { toAddresses } from "../src/settings/ip-pools/ip-pool.js";
import {
  inputErrorsOf,
  toEntries,
  toParameters,
} from "../src/settings/resource-sets/resource-set.js";

const limit = (total: number) => ({ total, usage: 0, available: total });
const set = {
  id: "s",
  name: "Team",
  subjects: ["u"],
  objects: ["t"],
  ipPools: ["p"],
  shareByDefault: true,
  limits: {
    cpus: limit(4),
    memory: limit(1.5 * 2 ** 30),
    "ipPool:p": limit(3),
  },
};

t.test("a viewed resource set stays unchanged", async (t) => {
  t.same(toParameters(toEntries(set), set), {
    name: "Team",
    subjects: ["u"],
    objects: ["t"],
    ipPools: ["p"],
    shareByDefault: true,
    limits: { cpus: 4, memory: 1.5 * 2 ** 30, "ipPool:p": 3 },
  });
});

t.test("limits are numbers, of GiB with fractions, or empty", async (t) => {
  const entries = toEntries(undefined);
  t.same([...inputErrorsOf(entries)], ["name"]);
  const limits = { ...entries.limits, cpus: "1.5", disk: "1,5", vms: "-1" };
  t.same(
    [...inputErrorsOf({ ...entries, name: "x", limits })],
    ["vms", "cpus"],
  );
});

t.test("addresses are separated by lines or commas", async (t) => {
  t.same(toAddresses("10.0.0.1 - 10.0.0.9\n10.0.1.0/24, fd00::1 "), [
    "10.0.0.1-10.0.0.9",
    "10.0.1.0/24",
    "fd00::1",
  ]);
});
