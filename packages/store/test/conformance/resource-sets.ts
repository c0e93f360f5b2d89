import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testResourceSets(t: Test, harness: StoreHarness) {
  t.test("a set is stored, changed and deleted", async (t) => {
    const bench = await createBench(t, harness);
    const { resourceSets } = await bench.open();
    const created = await resourceSets.create({
      name: "students",
      subjects: ["u", "u"],
      limits: { cpus: 4, memory: 2 ** 40 },
    });
    t.match(created, { subjects: ["u"], objects: [], shareByDefault: false });
    await Promise.all(
      ["a", "b", "c"].map((id) =>
        resourceSets.update(created.id, ({ objects }) => ({
          objects: [...objects, id],
        })),
      ),
    );
    const again = await bench.open();
    const set = again.resourceSets.get(created.id)!;
    t.same([...set.objects].toSorted(), ["a", "b", "c"]);
    t.same(set.limits, { cpus: 4, memory: 2 ** 40 });
    await again.resourceSets.delete(created.id);
    t.same([...again.resourceSets.list()], []);
    await t.rejects(
      again.resourceSets.update(created.id, () => ({})),
      { code: "NO_SUCH_OBJECT" },
    );
    await t.rejects(again.resourceSets.delete(created.id), {
      code: "NO_SUCH_OBJECT",
    });
    await t.rejects(again.resourceSets.create({ name: " " }), {
      code: "INVALID_PARAMETERS",
    });
  });

  t.test(
    "templates are encrypted, also those of an older release",
    async (t) => {
      const bench = await createBench(t, harness);
      const store = await bench.open();
      const template = "password: GUEST-SECRET\n";
      const one = await store.cloudConfigs.create({
        kind: "user",
        name: "one",
        template,
      });
      const two = await store.cloudConfigs.create({
        kind: "user",
        name: "two",
        template,
      });
      t.notMatch(await bench.dump(), "GUEST-SECRET");
      await store.close();
      await bench.query(
        `update cloud_configs set template = '${template}' where id = '${one.id}'`,
      );
      t.match(await bench.dump(), "GUEST-SECRET");
      const again = await bench.open();
      t.notMatch(await bench.dump(), "GUEST-SECRET");
      await again.rotateKey();
      for (const { id } of [one, two])
        t.equal(again.cloudConfigs.get(id)?.template, template);
      await again.cloudConfigs.update(one.id, { name: "renamed" });
      t.match(again.cloudConfigs.get(one.id), { name: "renamed", template });
    },
  );

  t.test("a template is stored, changed and deleted", async (t) => {
    const bench = await createBench(t, harness);
    const { cloudConfigs } = await bench.open();
    const template = `#cloud-config\n${"# x\n".repeat(10_000)}`;
    const created = await cloudConfigs.create({
      kind: "user",
      name: "debian",
      template,
    });
    await cloudConfigs.update(created.id, { name: "debian 12" });
    const again = await bench.open();
    t.same(again.cloudConfigs.get(created.id), {
      ...created,
      name: "debian 12",
    });
    await again.cloudConfigs.delete(created.id);
    t.same([...again.cloudConfigs.list()], []);
    await t.rejects(again.cloudConfigs.update(created.id, { name: "n" }), {
      code: "NO_SUCH_OBJECT",
    });
    await t.rejects(
      again.cloudConfigs.create({
        kind: "user",
        name: "n",
        template: "x".repeat(300_000),
      }),
      { code: "VALUE_TOO_LARGE" },
    );
  });
}
