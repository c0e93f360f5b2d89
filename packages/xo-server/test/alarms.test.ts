import t from "tap";
import { FakeClock } from "./fake-clock.js";
import { startAlarmBench, until } from "./alarm-bench.js";
import { startHookSink } from "./hook-sink.js";
import { startMailBox } from "./mail-box.js";

// The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=120000");

const vm = (id: string, more: object = {}) => ({
  id,
  type: "VM",
  name_label: `name of ${id}`,
  power_state: "Running",
  ...more,
});
const CPU = {
  kind: "statistic",
  type: "VM",
  metric: "now.cpu",
  comparison: ">",
  threshold: 0.9,
  clearsAt: 0.7,
};
const mailTo = (...addresses: string[]) => ({ kind: "e-mail", addresses });
const mailYaml = (port: number) =>
  `host: 127.0.0.1\nport: ${port}\nsecurity: none\nfrom: xo@example.org`;

t.test(
  "a threshold, its duration and its end: one alarm, two mails",
  async (t) => {
    const box = await startMailBox(t);
    const bench = await startAlarmBench(t, { yaml: mailYaml(box.port) });
    bench.objects.put(vm("a"), vm("b", { power_state: "Halted" }));
    await bench.create({
      name: "busy",
      severity: "critical",
      forSeconds: 60,
      on: { ...CPU, filter: "power_state:Running" },
      targets: [mailTo("ops@example.org")],
    });
    bench.measure("a", "cpu", 0.95);
    bench.measure("b", "cpu", 0.99);
    await bench.pass(59_000);
    t.same(await bench.list(), [], "not long enough");
    await bench.pass(1_000);
    await bench.pass(500);
    await until(() => box.letters.length === 1);
    const [open] = await bench.list();
    t.match(open, {
      name: "name of a",
      type: "VM",
      value: 0.95,
      ruleName: "busy",
    });
    t.equal(open?.endedAt, undefined);
    t.match(box.letters[0], /^Subject: \[critical\] busy: name of a\r$/m);
    t.match(box.letters[0], /value 95%, since/);
    t.same(box.recipients, [["ops@example.org"]]);

    bench.measure("a", "cpu", 0.8);
    await bench.pass(60_000);
    t.equal((await bench.list())[0]?.endedAt, undefined, "not back far enough");
    bench.measure("a", "cpu", 0.95);
    await bench.pass(120_000);
    t.equal(box.letters.length, 1, "it is the same alarm");
    bench.measure("a", "cpu", 0.5);
    await bench.pass(11_000);
    await until(() => box.letters.length === 2);
    t.match(await bench.list(), [{ id: open!.id, endedAt: Number }]);
    t.match(
      box.letters[1],
      /^Subject: \[critical\] RESOLVED: busy: name of a\r$/m,
    );
  },
);

t.test(
  "a clock that is set back does not delay an alarm by more than its duration",
  async (t) => {
    const clock = new FakeClock();
    const bench = await startAlarmBench(t, { clock });
    bench.objects.put(vm("a"));
    await bench.create({ on: CPU, forSeconds: 60 });
    bench.measure("a", "cpu", 0.95);
    await bench.pass(30_000);
    clock.shift(-30 * 86_400_000);
    await bench.pass(30_000);
    t.same(await bench.list(), [], "the duration starts again");
    await bench.pass(61_000);
    t.match(await bench.list(), [{ name: "name of a" }]);
  },
);

t.test(
  "a value that exceeds the threshold only now and then raises no alarm",
  async (t) => {
    const bench = await startAlarmBench(t);
    bench.objects.put(vm("a"));
    await bench.create({ on: CPU, forSeconds: 60 });
    for (let i = 0; i < 10; i++) {
      bench.measure("a", "cpu", 0.95);
      await bench.pass(40_000);
      bench.measure("a", "cpu", 0.8);
      await bench.pass(5_000);
    }
    t.same(await bench.list(), []);
    bench.measure("a", "cpu", 0.95);
    await bench.pass(60_000);
    await bench.pass(11_000);
    t.equal((await bench.list()).length, 1);
  },
);

t.test(
  "a share, from below: an SR that is nearly full, a disk that is empty",
  async (t) => {
    const bench = await startAlarmBench(t);
    const sr = (id: string, usage: number) => ({
      id,
      type: "SR",
      name_label: id,
      size: 100,
      physical_usage: usage,
    });
    bench.objects.put(sr("full", 95), sr("half", 50), {
      ...sr("odd", 1),
      size: 0,
    });
    const share = {
      kind: "statistic",
      type: "SR",
      metric: "physical_usage",
      of: "size",
    };
    await bench.create({ on: { ...share, comparison: ">", threshold: 0.9 } });
    await bench.create({
      name: "less",
      on: { ...share, comparison: "<", threshold: 0.6 },
    });
    await bench.pass(500);
    await until(async () => (await bench.list()).length >= 3);
    const found = (await bench.list()).map(({ name, value }) => [name, value]);
    t.same(
      found.toSorted(),
      [
        ["full", 0.95],
        ["half", 0.5],
        ["odd", null],
      ].toSorted(),
    );
  },
);

t.test(
  "an object is a member while the filter matches and it exists",
  async (t) => {
    const bench = await startAlarmBench(t);
    bench.objects.put(vm("a", { auto_poweron: true }), vm("b"));
    await bench.create({
      on: {
        kind: "object",
        type: "VM",
        filter: "power_state:Halted auto_poweron?",
      },
    });
    bench.objects.put(vm("b", { power_state: "Halted" }));
    bench.objects.put(vm("a", { auto_poweron: true, power_state: "Halted" }));
    await bench.pass(500);
    await until(async () => (await bench.list()).length === 1);
    t.match(await bench.list(), [{ name: "name of a", endedAt: undefined }]);
    bench.objects.remove("a");
    await bench.pass(11_000);
    await until(async () => (await bench.list())[0]?.endedAt !== undefined);
  },
);

t.test("without measurements an alarm stays", async (t) => {
  const bench = await startAlarmBench(t);
  bench.objects.put(vm("a"), vm("b", { pool: "q" }));
  bench.states.set("q", "watching");
  await bench.create({ on: CPU });
  bench.measure("a", "cpu", 0.95);
  bench.measure("b", "cpu", 0.95);
  await bench.pass(4_000);
  await bench.pass(11_000);
  await until(async () => (await bench.list()).length === 2);
  const open = async () =>
    (await bench.list())
      .filter(({ endedAt }) => endedAt === undefined)
      .map(({ name }) => name);
  bench.states.set("q", "backing-off");
  bench.objects.remove("b");
  bench.measure("a", "cpu", NaN);
  await bench.pass(500_000);
  await bench.pass(11_000);
  t.equal((await open()).length, 2);
  await bench.pass(120_000);
  await bench.pass(11_000);
  t.same(await open(), ["name of b"], "nothing measures it any more");
  bench.states.set("q", "watching");
  await bench.pass(31_000);
  await bench.pass(11_000);
  t.same(await open(), [], "it is not there any more");
});

t.test(
  "messages and failed tasks of pools, each once, over a restart",
  async (t) => {
    const sink = await startHookSink(t);
    const bench = await startAlarmBench(t);
    const seconds = () => Math.floor(bench.clock.now() / 1000);
    const message = (id: string, name: string, time: number) => ({
      id,
      type: "message",
      name,
      body: `body of ${id}`,
      $object: "a",
      time,
    });
    const task = (id: string, status: string) => ({
      id,
      type: "task",
      name_label: "VM.start",
      result: "SR_FULL",
      status,
      created: seconds(),
      finished: seconds(),
      $pool: "pool",
    });
    bench.objects.put(vm("a"), message("old", "HOST_LOST", seconds() - 60));
    const targets = [{ kind: "web-hook", url: sink.url }];
    const on = { kind: "message", filter: "name:/^HOST_/" };
    await bench.create({ on, targets });
    await bench.create({ name: "failed", on: { kind: "task" }, targets });
    bench.objects.put(
      message("new", "HOST_LOST", seconds()),
      message("other", "VM_STARTED", seconds()),
      task("good", "success"),
      task("bad", "failure"),
    );
    await bench.pass(500);
    await until(() => sink.posted.length === 2);
    t.match(await bench.list(), [{ endedAt: Number }, { endedAt: Number }]);
    const texts = sink.posted.map(({ text }) => text).join();
    t.match(texts, /HOST_LOST: body of new/);
    t.match(texts, /VM.start: SR_FULL/);
    t.match(texts, /"objectId":"a"/);
    await bench.stop();
    const again = await startAlarmBench(t, bench);
    await again.pass(500);
    await again.pass(60_000);
    t.equal((await again.list()).length, 2);
    t.equal(sink.posted.length, 2, "notified once");
  },
);

t.test("a pool that is disconnected for long", async (t) => {
  const bench = await startAlarmBench(t);
  bench.states.set("q", "connecting").set("off", "stopped");
  await bench.create({ on: { kind: "pool" }, forSeconds: 30 });
  bench.states.set("q", "watching");
  await bench.pass(30_000);
  bench.states.set("q", "backing-off");
  await bench.pass(2_000);
  bench.states.set("q", "connecting");
  await bench.pass(31_000);
  await bench.pass(500);
  await until(async () => (await bench.list()).length === 1);
  t.match(await bench.list(), [{ name: "pool q", type: "pool" }]);
  bench.states.set("q", "watching");
  await bench.pass(12_000);
  await until(async () => (await bench.list())[0]?.endedAt !== undefined);
});

t.test(
  "open alarms stay open over a restart, and are not notified again",
  async (t) => {
    const box = await startMailBox(t);
    const yaml = mailYaml(box.port);
    const bench = await startAlarmBench(t, { yaml });
    bench.objects.put(vm("a"), vm("b"));
    await bench.create({ on: CPU, targets: [mailTo("a@example.org")] });
    bench.measure("a", "cpu", 0.95);
    bench.measure("b", "cpu", 0.95);
    await bench.pass(500);
    await until(() => box.letters.length === 1);
    const ids = (await bench.list()).map(({ id }) => id).toSorted();
    t.equal(ids.length, 2);
    await bench.stop();
    const again = await startAlarmBench(t, { ...bench, yaml });
    t.same((await again.list()).map(({ id }) => id).toSorted(), ids);
    again.measure("a", "cpu", 0.96);
    await again.pass(60_000);
    t.equal(box.letters.length, 1);
    again.measure("b", "cpu", 0.1);
    await again.pass(40_000);
    await again.pass(11_000);
    await until(() => box.letters.length === 2);
    t.match(box.letters[1], /RESOLVED: rule: name of b/);
    t.equal((await again.list()).filter(({ endedAt }) => endedAt).length, 1);
  },
);

t.test(
  "many alarms at once become few notifications, and at most the maximum of alarms",
  async (t) => {
    const box = await startMailBox(t);
    const bench = await startAlarmBench(t, { yaml: mailYaml(box.port) });
    const all = Array.from({ length: 1_500 }, (_, i) => vm(`vm-${i}`));
    bench.objects.put(...all);
    const id = await bench.create({
      on: CPU,
      targets: [mailTo("a@example.org")],
    });
    for (const { id: one } of all) bench.now.set(one, 0, 0.95);
    bench.now.commit();
    await bench.pass(500);
    await until(() => box.letters.length === 1);
    t.match(box.letters[0], /^Subject: \[warning\] rule: 1500 objects\r$/m);
    t.match(box.letters[0], /and 1480 more/);
    t.ok(box.letters[0]!.length < 8_000);
    const rule = await bench.request("GET", `/alarm-rules/${id}`);
    t.match(rule.value, { open: 500, omitted: 1_000 });
    for (let i = 0; i < 20; i++) {
      bench.measure(`vm-${i}`, "cpu", i % 2 === 0 ? 0.1 : 0.99);
      await bench.pass(500);
    }
    await bench.pass(10_000);
    await until(() => box.letters.length > 1);
    t.ok(box.letters.length <= 4, `${box.letters.length} letters`);
  },
);

t.test("acknowledged alarms send no reminders", async (t) => {
  const sink = await startHookSink(t);
  const bench = await startAlarmBench(t);
  bench.objects.put(vm("a"));
  await bench.create({
    on: CPU,
    remindEverySeconds: 3_600,
    targets: [{ kind: "web-hook", url: sink.url }],
  });
  bench.measure("a", "cpu", 1);
  await bench.pass(500);
  await until(() => sink.posted.length === 1);
  await bench.pass(3_600_000);
  await until(() => sink.posted.length === 2);
  t.match(JSON.parse(sink.posted[1]!.text), { event: "reminder", total: 1 });
  const id = (await bench.list())[0]!.id;
  const path = `/raised-alarms/${id}/actions/acknowledge`;
  t.equal((await bench.request("POST", path)).status, 200);
  t.match(await bench.list(), [{ acknowledgedBy: "id-of-admin" }]);
  await bench.pass(7_200_000);
  t.equal(sink.posted.length, 2);
});
