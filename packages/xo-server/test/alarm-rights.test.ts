import t from "tap";
import { startAlarmBench, until } from "./alarm-bench.js";

const vm = (id: string, more: object = {}) => ({
  id,
  type: "VM",
  name_label: id,
  power_state: "Halted",
  ...more,
});
const HALTED = { kind: "object", type: "VM", filter: "power_state:Halted" };
const users = {
  tess: [
    {
      effect: "allow",
      resource: "VM",
      action: "read",
      selector: "tags:/^hers$/",
    },
  ],
  nobody: [],
} as const;

t.test("rules are for admins", async (t) => {
  const bench = await startAlarmBench(t, { users });
  const id = await bench.create({ on: HALTED });
  const asked = [
    ["GET", "/alarm-rules"],
    ["GET", `/alarm-rules/${id}`],
    ["POST", "/alarm-rules", { name: "r", on: HALTED }],
    ["PATCH", `/alarm-rules/${id}`, { enabled: false }],
    ["POST", `/alarm-rules/${id}/actions/test`],
    ["DELETE", `/alarm-rules/${id}`],
  ] as const;
  for (const [method, path, body] of asked) {
    const { status } = await bench.request(method, path, body, "tess");
    t.equal(status, 403, `${method} ${path}`);
    t.equal((await bench.request(method, path, body, "")).status, 401, path);
  }
  t.equal((await bench.request("DELETE", `/alarm-rules/${id}`)).status, 204);
  t.equal((await bench.request("GET", `/alarm-rules/${id}`)).status, 404);
});

t.test("alarms are shown to users who may read the object", async (t) => {
  const bench = await startAlarmBench(t, { users });
  await bench.create({ on: HALTED });
  bench.objects.put(vm("a"), vm("b", { tags: ["hers"] }));
  await bench.pass(500);
  await until(async () => (await bench.list()).length === 2);
  const all = await bench.list();
  t.same(
    (await bench.list("tess")).map(({ name }) => name),
    ["b"],
  );
  t.same(await bench.list("nobody"), []);
  const [a, b] = ["a", "b"].map(
    (name) => all.find((one) => one.name === name)!.id,
  );
  const acknowledge = async (id: string, who: string) =>
    (
      await bench.request(
        "POST",
        `/raised-alarms/${id}/actions/acknowledge`,
        undefined,
        who,
      )
    ).status;
  t.equal(await acknowledge(a!, "tess"), 404);
  t.equal(await acknowledge(b!, "tess"), 200);
  t.equal(
    (await bench.request("GET", `/raised-alarms/${a!}`, undefined, "tess"))
      .status,
    404,
  );
  t.match(
    (await bench.request("GET", `/raised-alarms/${b!}`, undefined, "tess"))
      .value,
    {
      name: "b",
      acknowledgedBy: "id-of-tess",
    },
  );
  bench.objects.remove("b");
  t.same(
    await bench.list("tess"),
    [],
    "deleted objects are for those who see all",
  );
});

t.test("wrong rules are refused", async (t) => {
  const bench = await startAlarmBench(t);
  const cpu = {
    kind: "statistic",
    type: "VM",
    metric: "now.cpu",
    comparison: ">",
    threshold: 0.9,
  };
  const mail = { kind: "e-mail", addresses: ["a@example.org"] };
  const hook = { kind: "web-hook", url: "https://example.org/" };
  const wrong: readonly object[] = [
    { on: { ...cpu, type: "nothing" } },
    { on: { ...cpu, metric: "now.gpu" } },
    { on: { ...cpu, metric: "" } },
    { on: { ...cpu, clearsAt: 0.95 } },
    { on: { ...cpu, filter: "(" } },
    { on: { kind: "message", filter: "name:/(/" } },
    { on: { kind: "other" } },
    { on: cpu, forSeconds: -1 },
    { on: cpu, severity: "bad" },
    { on: cpu, targets: [{ ...mail, addresses: ["a b@c"] }] },
    { on: cpu, targets: [{ ...mail, addresses: ["a@b\r\nBcc: c@d"] }] },
    { on: cpu, targets: [{ ...hook, url: "file:///etc/passwd" }] },
    { on: cpu, targets: [{ ...hook, url: "https://a:b@example.org/" }] },
    { on: cpu, targets: [{ ...hook, secretHeaders: { "a\nb": "c" } }] },
    { on: cpu, targets: [{ ...hook, secretHeaders: { a: "c\r\nd: e" } }] },
    { on: cpu, targets: [{ ...hook, secretHeaders: { Host: "b" } }] },
    { on: cpu, targets: Array.from({ length: 21 }, () => mail) },
  ];
  for (const rule of wrong) {
    const created = await bench.request("POST", "/alarm-rules", {
      name: "r",
      ...rule,
    });
    t.ok(
      [400, 422].includes(created.status),
      `${created.status} ${JSON.stringify(rule)}`,
    );
  }
  t.same((await bench.request("GET", "/alarm-rules")).value, []);
});

t.test("a changed or disabled condition clears the alarm", async (t) => {
  const bench = await startAlarmBench(t);
  bench.objects.put(vm("a"));
  const id = await bench.create({ on: HALTED });
  await bench.pass(500);
  const open = async () =>
    (await bench.list()).filter(({ endedAt }) => endedAt === undefined).length;
  await until(async () => (await open()) === 1);
  const set = async (patch: object) => {
    t.equal(
      (await bench.request("PATCH", `/alarm-rules/${id}`, patch)).status,
      204,
    );
    await bench.pass(11_000);
  };
  await set({ name: "another name", severity: "info" });
  t.equal(await open(), 1);
  t.equal((await bench.list()).length, 1);
  await set({ on: { ...HALTED, filter: "power_state:Running" } });
  t.equal(await open(), 0);
  await set({ on: HALTED });
  await until(async () => (await open()) === 1);
  await set({ enabled: false });
  t.equal(await open(), 0);
});
