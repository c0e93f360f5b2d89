import t from "tap";
import { toAlarmRule } from "../src/alarms/alarm-rule.js";
import { startAlarmBench } from "./alarm-bench.js";

const on = {
  kind: "object",
  type: "VM",
  filter: "power_state:Halted",
} as const;
const mail = { id: "m", kind: "e-mail", addresses: ["a@example.org"] } as const;

t.test(
  "a rule stored by release 0.1 is read with its current names",
  async (t) => {
    const stored = { id: "r", name: "n", updatedAt: 1 };
    const body = { enabled: true, on, tellsEnd: false, sendTo: [mail] };
    const rule = toAlarmRule({ ...stored, body } as never);
    t.same(rule.targets, [mail]);
    t.equal(rule.notifyOnClear, false);
    t.notHas(rule, { sendTo: [mail] });
  },
);

t.test("the API accepts and returns the names of release 0.1", async (t) => {
  const bench = await startAlarmBench(t);
  const target = { kind: mail.kind, addresses: mail.addresses };
  const id = await bench.create({ on, tellsEnd: false, sendTo: [target] });
  const get = async () =>
    (await bench.ask("GET", `/alarm-rules/${id}`)).value as object;
  const current = { targets: [target], notifyOnClear: false, omitted: 0 };
  const old = { sendTo: [target], tellsEnd: false, others: 0 };
  t.match(await get(), { ...current, ...old });
  const change = { tellsEnd: true, sendTo: [] };
  const { status } = await bench.ask("PATCH", `/alarm-rules/${id}`, change);
  t.equal(status, 204);
  t.match(await get(), { targets: [], notifyOnClear: true });
});
