import t from "tap";
import { startAlarmBench } from "./alarm-bench.js";

const on = {
  kind: "object",
  type: "VM",
  filter: "power_state:Halted",
} as const;
/** Of an alarm rule in the API. */
const PROPERTIES = [
  "enabled",
  "forSeconds",
  "id",
  "name",
  "notifyOnClear",
  "omitted",
  "on",
  "open",
  "remindEverySeconds",
  "severity",
  "targets",
  "undelivered",
];
const mail = { id: "m", kind: "e-mail", addresses: ["a@example.org"] } as const;

t.test(
  "the API has and accepts the properties of the schema only",
  async (t) => {
    const bench = await startAlarmBench(t);
    const target = { kind: mail.kind, addresses: mail.addresses };
    const id = await bench.create({ on, targets: [target] });
    const path = `/alarm-rules/${id}`;
    const { value } = await bench.request("GET", path);
    t.match(value, { targets: [target], notifyOnClear: true, omitted: 0 });
    t.strictSame(Object.keys(value as object).toSorted(), PROPERTIES);
    const change = { unknownProperty: false };
    const { status } = await bench.request("PATCH", path, change);
    t.equal(status, 422);
  },
);
