import type { NewAlarm, Store } from "@xo-server/store";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

const nothing = () => [];

export async function testAlarms(t: Test, harness: StoreHarness) {
  t.test("a rule is stored with its secret encrypted", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const secret = { headers: { authorization: "Bearer hush-hush" } };
    const { id } = await store.alarmRules.create({
      name: "r",
      body: { a: 1 },
      secret,
    });
    await store.close();
    const again = await bench.open();
    t.match([...again.alarmRules.list()], [{ id, name: "r", body: { a: 1 } }]);
    t.same(again.alarmRules.secret(id), secret);
    t.notMatch(await bench.dump(), /hush-hush/);
    await again.alarmRules.replace(id, { name: "s", body: {} });
    t.match(again.alarmRules.get(id), { name: "s", body: {} });
    t.equal(again.alarmRules.secret(id), undefined);
    await t.rejects(again.alarmRules.replace("x", { name: "s", body: {} }), {
      code: "NO_SUCH_OBJECT",
    });
  });

  t.test("only one of several servers raises an alarm", async (t) => {
    const { stores, alarm } = await create(t, harness, 3);
    const notified: number[] = [];
    const raised = await Promise.all(
      stores.map((store) =>
        store.alarms.raise([alarm("a"), alarm("b")], (all) => {
          notified.push(all.length);
          return [];
        }),
      ),
    );
    t.equal(raised.flat().length, 2);
    t.same(notified.toSorted(), [0, 0, 2]);
    const open = await stores[1]!.alarms.list({ isOpen: true });
    t.same(open.map(({ key }) => key).toSorted(), ["a", "b"]);
  });

  t.test("an alarm that ended immediately is stored once", async (t) => {
    const { stores, alarm } = await create(t, harness, 2);
    const happened = { ...alarm("m"), endedAt: 1_000 };
    const raised = await Promise.all(
      [...stores, ...stores].map(({ alarms }) =>
        alarms.raise([happened], nothing),
      ),
    );
    t.match(raised.flat(), [{ endedAt: 1_000, key: undefined }]);
    t.equal(raised.flat().length, 1);
  });

  t.test("an ended alarm can be raised again", async (t) => {
    const { stores, alarm } = await create(t, harness, 1);
    const { alarms } = stores[0]!;
    const [first] = await alarms.raise([alarm("a")], nothing);
    t.match(await alarms.end([first!.id], 9_000, nothing), [
      { id: first!.id, endedAt: 9_000, key: undefined },
    ]);
    t.same(await alarms.end([first!.id], 9_500, nothing), [], "once");
    t.equal((await alarms.raise([alarm("a")], nothing)).length, 1);
    t.equal((await alarms.list()).length, 2);
  });

  t.test("a notification is claimed by one server, and retried", async (t) => {
    const { stores, alarm, clock, ruleId } = await create(t, harness, 2);
    const [one, other] = stores as [Store, Store];
    const notice = { ruleId, targetId: "t", body: { text: "hot" } };
    await one.alarms.raise([alarm("a")], () => [notice]);
    const taken = await Promise.all(
      stores.map(({ alarmNotices }) => alarmNotices.claim(10, 60_000)),
    );
    t.match(taken.flat(), [{ ...notice, attempts: 1 }]);
    const id = taken.flat()[0]!.id;
    t.same(await one.alarmNotices.failing(10), []);
    await one.alarmNotices.releaseInterrupted();
    t.match(await one.alarmNotices.claim(10, 60_000), [{ id, attempts: 2 }]);
    await one.alarmNotices.fail(id, "gone\0 \ud800", clock.now() + 5_000);
    t.match(await other.alarmNotices.failing(10, ruleId), [{ error: "gone " }]);
    t.equal(await other.alarmNotices.nextAt(), clock.now() + 5_000);
    await one.alarmNotices.releaseInterrupted();
    t.same(await one.alarmNotices.claim(10, 1), [], "it has failed");
    clock.advance(5_000);
    t.match(await other.alarmNotices.claim(10, 1), [{ attempts: 3 }]);
    await other.alarmNotices.fail(id, "gone", null);
    clock.advance(1e9);
    t.same(await one.alarmNotices.claim(10, 1), [], "given up");
    t.equal(await one.alarmNotices.nextAt(), undefined);
    await one.alarmNotices.delete(id);
    t.same(await one.alarmNotices.failing(10), []);
  });

  t.test(
    "alarm and notification are stored together or not at all",
    async (t) => {
      const { stores, alarm } = await create(t, harness, 1);
      const { alarms, alarmNotices } = stores[0]!;
      const wrong = { ruleId: "no such rule", targetId: "t", body: {} };
      await t.rejects(alarms.raise([alarm("a")], () => [wrong]));
      t.same(await alarms.list(), []);
      t.equal(await alarmNotices.nextAt(), undefined);
    },
  );

  t.test("pages, acknowledgement, and pruning of the oldest", async (t) => {
    const { stores, alarm } = await create(t, harness, 1);
    const { alarms } = stores[0]!;
    const many = Array.from({ length: 250 }, (_, i) => ({
      ...alarm(`k${i}`),
      beganAt: 1_000 + Math.floor(i / 10),
    }));
    const raised = await alarms.raise(many, nothing);
    t.equal(raised.length, 250);
    const seen: string[] = [];
    for (;;) {
      const last =
        seen.length === 0 ? undefined : await alarms.get(seen.at(-1)!);
      const page = await alarms.list({
        limit: 60,
        ...(last === undefined ? {} : { after: last }),
      });
      if (page.length === 0) break;
      seen.push(...page.map(({ id }) => id));
    }
    t.equal(new Set(seen).size, 250);
    const ended = raised.slice(0, 200).map(({ id }) => id);
    await alarms.end(ended, 5_000, nothing);
    t.equal(await alarms.prune(100), 100);
    t.equal((await alarms.list({ limit: 1000 })).length, 150);
    t.equal(await alarms.prune(100), 0);
    const [kept] = await alarms.list({ limit: 1 });
    t.match(await alarms.acknowledge(kept!.id, "u"), { acknowledgedBy: "u" });
    t.match(await alarms.get(kept!.id), { acknowledgedAt: Number });
    await t.rejects(alarms.acknowledge("x", "u"), { code: "NO_SUCH_OBJECT" });
  });

  t.test("deleting a rule deletes its alarms and notifications", async (t) => {
    const { stores, alarm, ruleId } = await create(t, harness, 1);
    const store = stores[0]!;
    const notice = { ruleId, targetId: "t", body: {} };
    await store.alarms.raise([alarm("a")], () => [notice]);
    await store.alarmRules.delete(ruleId);
    t.same(await store.alarms.list(), []);
    t.equal(await store.alarmNotices.nextAt(), undefined);
  });
}

/** Servers that share a database with one rule. */
async function create(t: Test, harness: StoreHarness, servers: number) {
  const bench = await createBench(t, harness);
  const stores: Store[] = [];
  for (let i = 0; i < servers; i++) stores.push(await bench.open());
  const { id: ruleId } = await stores[0]!.alarmRules.create({
    name: "r",
    body: {},
  });
  const alarm = (key: string): NewAlarm => ({
    ruleId,
    key,
    beganAt: 1_000,
    body: { name: key },
  });
  return { ...bench, stores, ruleId, alarm };
}
