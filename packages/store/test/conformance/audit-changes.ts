import type { Store } from "@xo-server/store";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testAuditChanges(t: Test, harness: StoreHarness) {
  const change = {
    userId: "u",
    operation: "vm.start",
    objectId: "vm",
    parameters: { id: "vm" },
  };
  const success = { ...change, outcome: "success" } as const;
  const entries = async (store: Store) =>
    (await store.audit.list()).map(({ operation, outcome }) => [
      operation,
      outcome,
    ]);

  t.test("the entry of a change replaces its row, once", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const id = await store.auditChanges.begin("one", change);
    t.same(await entries(store), []);
    t.equal(await store.auditChanges.end(id, success), true);
    await store.auditChanges.end(id, success);
    t.same(await entries(store), [["vm.start", "success"]]);
    t.same(await bench.query("select * from audit_pending"), []);
    t.same(await store.audit.verify(), { intact: true, checked: 1 });
  });

  t.test("an interrupted change has an entry at the next start", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const id = await store.auditChanges.begin("one", change);
    await store.auditChanges.update(id, { ...change, taskId: "its task" });
    await store.auditChanges.begin("other", change);
    await store.close();
    const again = await bench.open();
    t.equal(await again.auditChanges.endInterrupted("one"), 1);
    t.equal(await again.auditChanges.endInterrupted("one"), 0);
    t.match(await again.audit.list(), [
      {
        operation: "vm.start",
        objectId: "vm",
        outcome: "unknown",
        errorCode: "INTERRUPTED",
        taskId: "its task",
      },
    ]);
    t.match(await again.audit.verify(), { intact: true });
    t.equal((await bench.query("select * from audit_pending")).length, 1);
  });
}
