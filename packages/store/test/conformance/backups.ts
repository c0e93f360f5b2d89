import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

const SECRET = "RECOVERY-KEY-TEXT";

export async function testBackups(t: Test, harness: StoreHarness) {
  t.test("a backup repository is stored, its key encrypted", async (t) => {
    const bench = await createBench(t, harness);
    const { backupRepositories } = await bench.open();
    const credentials = { recoveryKey: SECRET };
    const added = await backupRepositories.add({
      name: "nightly",
      url: "file:///mnt/backups",
      credentials,
      options: { parity: true },
    });
    const again = await bench.open();
    t.same(again.backupRepositories.get(added.id), added);
    t.same(again.backupRepositories.credentials(added.id), credentials);
    await backupRepositories.update(added.id, { name: "b", enabled: false });
    await Promise.all([
      backupRepositories.changeState(added.id, (s) => ({ ...s, anchor: 1 })),
      backupRepositories.changeState(added.id, (s) => ({ ...s, bytes: 2 })),
    ]);
    t.match(backupRepositories.get(added.id), {
      name: "b",
      enabled: false,
      url: "file:///mnt/backups",
      state: { anchor: 1, bytes: 2 },
    });
    t.same([...backupRepositories.list()].length, 1);
    const text = JSON.stringify([...backupRepositories.list()]);
    t.notMatch(text, SECRET);
    await backupRepositories.delete(added.id);
    await t.rejects(backupRepositories.update(added.id, { name: "c" }), {
      code: "NO_SUCH_OBJECT",
    });
  });

  t.test("archives are listed by page, repository and VM", async (t) => {
    const bench = await createBench(t, harness);
    const { backupRepositories, backupArchives } = await bench.open();
    const url = "file:///mnt/backups";
    const { id: a } = await backupRepositories.add({
      name: "a",
      url,
      credentials: {},
    });
    const { id: b } = await backupRepositories.add({
      name: "b",
      url,
      credentials: {},
    });
    const archive = (repository: string, order: number, vm?: string) => ({
      id: `${repository}/${order}`,
      repository,
      order,
      body: { n: order },
      ...(vm === undefined ? {} : { vm }),
    });
    const all = [archive(a, 1, "v"), archive(a, 2, "w"), archive(b, 3, "v")];
    await backupArchives.put([...all, archive(b, 4)]);
    t.same(await backupArchives.get(`${a}/2`), all[1]);
    t.same(await backupArchives.list({ vm: "v" }), [all[2], all[0]]);
    t.same(await backupArchives.list({ repository: a }), [all[1], all[0]]);
    const page = await backupArchives.list({ limit: 2 });
    t.same(page, [archive(b, 4), all[2]]);
    t.same(await backupArchives.list({ after: page[1]! }), [all[1], all[0]]);
    await backupArchives.put([{ ...all[0]!, body: { n: 9 } }]);
    t.same((await backupArchives.get(`${a}/1`))?.body, { n: 9 });
    await backupArchives.delete([`${a}/1`, "unknown"]);
    t.same(await backupArchives.idsOf(a), [`${a}/2`]);
    await backupRepositories.delete(b);
    t.same(await backupArchives.list(), [all[1]], "they go with it");
  });

  t.test(
    "screenshots of restore tests are encrypted, and bounded",
    async (t) => {
      const bench = await createBench(t, harness);
      const store = await bench.open();
      const { backupRepositories, backupArchives, restoreScreenshots } = store;
      const url = "file:///mnt/backups";
      const added = await backupRepositories.add({
        name: "a",
        url,
        credentials: {},
      });
      const screenshot = (time: number) => ({
        id: `${added.id}/${time}`,
        repository: added.id,
        time,
        png: `screenshot ${time}`,
      });
      for (let time = 1; time <= 201; time++)
        await restoreScreenshots.put(screenshot(time));
      t.equal(
        await restoreScreenshots.get(screenshot(1).id),
        undefined,
        "too old",
      );
      await restoreScreenshots.put({
        ...screenshot(2),
        png: "again",
        time: 300,
      });
      t.match(await restoreScreenshots.get(screenshot(2).id), { png: "again" });
      await store.rotateKey();
      t.same(await restoreScreenshots.get(screenshot(3).id), screenshot(3));
      const again = await bench.open();
      t.same(
        await again.restoreScreenshots.get(screenshot(3).id),
        screenshot(3),
      );
      const large = { ...screenshot(4), png: "x".repeat(300_000) };
      await t.rejects(restoreScreenshots.put(large), {
        code: "VALUE_TOO_LARGE",
      });
      await backupArchives.delete([screenshot(3).id]);
      t.equal(await restoreScreenshots.get(screenshot(3).id), undefined);
      await backupRepositories.delete(added.id);
      t.equal(await restoreScreenshots.get(screenshot(4).id), undefined);
    },
  );
}
