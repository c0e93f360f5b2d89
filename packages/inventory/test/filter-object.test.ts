import t from "tap";
import {
  analyseObjectFilter,
  createObjectFilter,
  objectFilterLimits,
} from "../src/filter/object-filter.js";
import { holds } from "./filter-plan-holds.js";

const vm = {
  type: "VM",
  tags: ["a", "b", "c"],
  memory: { size: 1, dynamic: [1, 2] },
  disks: [
    { id: "x", size: 1 },
    { id: "y", size: 2 },
  ],
  os_version: null,
  auto_poweron: true,
};

const yes: object[] = [
  {},
  { type: "VM" },
  { tags: ["b", "a"] },
  { tags: [] },
  { memory: {} },
  { memory: { size: 1 }, auto_poweron: true },
  { memory: { dynamic: [2] } },
  { disks: [{ id: "y" }, { size: 1 }] },
  { os_version: null },
];
const no: object[] = [
  { type: "vm" },
  { type: "VM-template" },
  { tags: ["a", "d"] },
  { tags: "a" },
  { memory: { size: "1" } },
  { memory: [] },
  { type: ["VM"] },
  { disks: [{ id: "x", size: 2 }] },
  { os_version: {} },
  { missing: null },
  { missing: {} },
  { toString: {} },
  JSON.parse('{"__proto__":{}}') as object,
];

for (const pattern of yes)
  t.test(`${JSON.stringify(pattern)} matches`, async (t) => {
    t.equal(createObjectFilter(pattern)(vm), true);
    t.equal(createObjectFilter(pattern)(undefined), false);
    t.equal(createObjectFilter(pattern)("VM"), false);
    t.equal(holds(analyseObjectFilter(pattern), vm), true, "by its plan");
  });
for (const pattern of no)
  t.test(`${JSON.stringify(pattern)} does not match`, async (t) => {
    t.equal(createObjectFilter(pattern)(vm), false);
    t.equal(holds(analyseObjectFilter(pattern), vm), false, "by its plan");
  });

t.test("patterns are bounded", async (t) => {
  const deep = (levels: number) =>
    JSON.parse('{"a":'.repeat(levels) + "1" + "}".repeat(levels)) as object;
  const { depth, values } = objectFilterLimits;
  t.doesNotThrow(() => createObjectFilter(deep(depth - 1)));
  const error = { code: "INVALID_PARAMETERS" };
  t.throws(() => createObjectFilter(deep(depth)), error);
  t.throws(() => createObjectFilter(deep(5_000)), error);
  t.throws(() => createObjectFilter({ tags: Array(values).fill("a") }), error);
});
