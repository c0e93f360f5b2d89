import t from "tap";
import { RollingRecords } from "../src/rolling/rolling-records.js";

t.test("a record of an earlier version keeps its suspended settings", (t) => {
  const stored = {
    pool: "p",
    since: 1,
    turns: [],
    shutDown: {},
    aside: { autoPoweron: true },
    stopped: "why",
  };
  const store = {
    get: () => stored,
    set: () => Promise.resolve(),
    delete: () => Promise.resolve(),
  };
  const record = new RollingRecords(store).current("p");
  t.match(record, { pool: "p", suspended: { autoPoweron: true } });
  t.notOk("aside" in record!);
  t.end();
});
