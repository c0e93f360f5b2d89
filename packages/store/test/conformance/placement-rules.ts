import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testPlacementRules(t: Test, harness: StoreHarness) {
  t.test("a rule is stored, replaced and deleted", async (t) => {
    const bench = await createBench(t, harness);
    const { placementRules } = await bench.open();
    const rule = {
      pool: "p",
      name: "near the disks",
      kind: "host-affinity" as const,
      required: false,
      tag: "database",
      hosts: ["h"],
      score: 2.5,
    };
    const created = await placementRules.create(rule);
    await placementRules.create({ ...rule, pool: "q" });
    const again = await bench.open();
    t.same(again.placementRules.get(created.id), { ...rule, id: created.id });
    t.same([...again.placementRules.list("p")], [{ ...rule, id: created.id }]);
    t.equal(again.placementRules.size, 2);
    const apart = {
      pool: "p",
      name: "anti-affinity",
      kind: "anti-affinity",
      required: true,
    };
    const other = { ...apart, kind: "anti-affinity" as const, vms: ["a", "b"] };
    await again.placementRules.replace(created.id, other);
    t.same(again.placementRules.get(created.id), { ...other, id: created.id });
    await again.placementRules.delete(created.id);
    t.same([...again.placementRules.list("p")], []);
    await t.rejects(again.placementRules.delete(created.id), {
      code: "NO_SUCH_OBJECT",
    });
    await t.rejects(again.placementRules.replace(created.id, other), {
      code: "NO_SUCH_OBJECT",
    });
    await t.rejects(again.placementRules.create({ ...other, name: " " }), {
      code: "INVALID_PARAMETERS",
    });
  });
}
