import { createQueries, type LiveRequest } from "@xo-server/inventory";
import t from "tap";
import { FakeClock } from "./fake-clock.js";
import { createFakeCatalog, FakeViewTable } from "./fake-view-table.js";

t.test("it is known whether metrics are read", async (t) => {
  const table = new FakeViewTable();
  table.put({ id: "a", type: "VM", name_label: "a" });
  table.flush();
  const queries = createQueries(createFakeCatalog(table), {
    clock: new FakeClock(),
  });
  t.teardown(() => {
    queries.stop();
  });
  const type = "VM";
  const live = (more: Partial<LiveRequest>) =>
    queries.live({ type, offset: 0, limit: 10, ...more }, () => undefined);

  queries.metrics("VM").set("a", 0, 0.5);
  queries.metrics("VM").commit();
  await queries.page({ type, filter: "name_label:a" });
  await queries.columns({ type, paths: ["name_label"] });
  t.notOk(queries.takeMetricsUse(), "nothing has read metrics");

  const reads: Record<string, () => Promise<unknown>> = {
    "a filter": () => queries.count({ type, filter: "now.cpu:>0.1" }),
    "an order": () => queries.page({ type, sort: [{ by: "now.cpu" }] }),
    "a field": () => queries.page({ type, fields: ["now.cpu"] }),
    "all metrics": () => queries.page({ type, fields: ["now"] }),
    "a column": () => queries.columns({ type, paths: ["now.memory"] }),
    "a group": () =>
      queries.group({ type, filter: "now.cpu:>0" }, "name_label"),
    "a value": async () => queries.metrics("VM").get("a", 0),
  };
  for (const [name, read] of Object.entries(reads)) {
    await read();
    t.ok(queries.takeMetricsUse(), name);
    t.notOk(queries.takeMetricsUse(), `${name}: once`);
  }

  const window = await live({ fields: ["now"] });
  t.ok(queries.takeMetricsUse());
  t.ok(queries.takeMetricsUse(), "as long as the window is open");
  await window.change({ fields: ["name_label"] });
  t.notOk(queries.takeMetricsUse());
  await window.change({ sort: [{ by: "now.cpu", descending: true }] });
  t.ok(queries.takeMetricsUse());
  window.close();
  t.notOk(queries.takeMetricsUse());

  const alarm = await live({ filter: "now.cpu:>0.9", acceptsOldMetrics: true });
  await alarm.change({ limit: 20 });
  t.notOk(queries.takeMetricsUse(), "old metrics are accepted");
  alarm.close();
});
