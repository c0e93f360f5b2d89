import t from "tap";
import { startAlarmBench, until } from "./alarm-bench.js";
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
const mailTo = (...addresses: string[]) => ({ kind: "e-mail", addresses });
const mailYaml = (port: number) =>
  `host: 127.0.0.1\nport: ${port}\nsecurity: none\nfrom: xo@example.org`;

const HALTED = { kind: "object", type: "VM", filter: "power_state:Halted" };
const halted = (id: string) => vm(id, { power_state: "Halted" });

t.test(
  "restarts raise and clear nothing for objects of the previous run",
  async (t) => {
    const box = await startMailBox(t);
    const yaml = mailYaml(box.port);
    let bench = await startAlarmBench(t, { yaml });
    bench.objects.put(halted("stays"), vm("a"), vm("b"));
    const targets = [mailTo("ops@example.org")];
    await bench.create({ name: "halted", on: HALTED, targets });
    await bench.create({ name: "pool", on: { kind: "pool" }, targets });
    await bench.pass(1_000);
    await until(() => box.letters.length === 1);
    const [open] = await bench.list();
    t.match(open, { name: "name of stays" });

    for (let restart = 1; restart <= 4; restart++) {
      await bench.stop();
      const states = new Map([["p", "connecting" as const]]);
      bench = await startAlarmBench(t, { ...bench, yaml, states });
      // States of the past, as a snapshot cache may publish them.
      bench.objects.put(vm("stays"), halted("a"), halted("b"));
      await bench.pass(5_000);
      bench.objects.put(halted("stays"), vm("b"));
      bench.states.set("p", "listing");
      await bench.pass(40_000);
      // The listing corrects the last of them after the pool is connected.
      bench.states.set("p", "watching");
      await bench.pass(1_000);
      bench.objects.put(vm("a"));
      await bench.pass(60_000);
    }
    t.equal(box.letters.length, 1, "nothing was sent for nothing");
    const kept = await bench.list();
    t.match(kept, [{ id: open!.id, endedAt: undefined }]);
    t.equal(kept.length, 1);

    bench.objects.put(halted("b"));
    await bench.pass(500);
    await until(() => box.letters.length === 2);
    t.match(box.letters[1], /halted: name of b/);
  },
);

t.test("changes while the server was stopped are detected", async (t) => {
  const box = await startMailBox(t);
  const yaml = mailYaml(box.port);
  const before = await startAlarmBench(t, { yaml });
  before.objects.put(halted("a"), vm("b"));
  const targets = [mailTo("ops@example.org")];
  await before.create({ name: "halted", on: HALTED, targets });
  await before.pass(500);
  await until(() => box.letters.length === 1);
  await before.stop();
  const states = new Map([["p", "connecting" as never]]);
  const bench = await startAlarmBench(t, { ...before, yaml, states });
  bench.objects.put(vm("a"), halted("b"));
  await bench.pass(90_000);
  t.equal(box.letters.length, 1, "the pool is not connected yet");
  bench.states.set("p", "watching");
  await bench.pass(4_000);
  await bench.pass(11_000);
  await until(() => box.letters.length === 3);
  const open = (await bench.list()).filter(({ endedAt }) => !endedAt);
  t.match(open, [{ name: "name of b" }]);
});

t.test("a pool that cannot be reached after a restart", async (t) => {
  const states = new Map([["p", "connecting" as never]]);
  const bench = await startAlarmBench(t, { states });
  await bench.create({ on: { kind: "pool" } });
  await bench.pass(20_000);
  t.same(await bench.list(), [], "the first attempt is under way");
  bench.states.set("p", "backing-off");
  await bench.pass(1_000);
  await bench.pass(500);
  await until(async () => (await bench.list()).length === 1);
  const again = new Map([["p", "connecting" as never]]);
  await bench.stop();
  const restarted = await startAlarmBench(t, { ...bench, states: again });
  await restarted.pass(60_000);
  t.match(await restarted.list(), [{ endedAt: undefined }]);
  restarted.states.set("p", "watching");
  await restarted.pass(31_000);
  await restarted.pass(11_000);
  t.match(await restarted.list(), [{ endedAt: Number }]);
});
