import t from "tap";
import { toAlarmRule } from "../src/alarms/alarm-rule.js";
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
  "a rule stored by release 0.1 is read with its current names",
  async (t) => {
    const stored = { id: "r", name: "n", updatedAt: 1 };
    // Names in the database, which release 0.1 wrote.
    const body = { enabled: true, on, tellsEnd: false, sendTo: [mail] };
    const rule = toAlarmRule({ ...stored, body } as never);
    t.same(rule.targets, [mail]);
    t.equal(rule.notifyOnClear, false);
    t.strictSame(
      Object.keys(rule).toSorted(),
      ["enabled", "id", "name", "notifyOnClear", "on", "targets", "updatedAt"],
      "only current names",
    );
  },
);

t.test(
  "the API has and accepts the properties of the schema only",
  async (t) => {
    const bench = await startAlarmBench(t);
    const target = { kind: mail.kind, addresses: mail.addresses };
    const id = await bench.create({ on, targets: [target] });
    const path = `/alarm-rules/${id}`;
    const { value } = await bench.ask("GET", path);
    t.match(value, { targets: [target], notifyOnClear: true, omitted: 0 });
    t.strictSame(Object.keys(value as object).toSorted(), PROPERTIES);
    const change = { unknownProperty: false };
    const { status } = await bench.ask("PATCH", path, change);
    t.equal(status, 422);
  },
);
