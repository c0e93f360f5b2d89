import { limits } from "@xo-server/store";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testSettings(t: Test, harness: StoreHarness) {
  t.test("a setting survives a restart", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    await store.settings.set("ui/theme", { dark: true, size: 1.5 });
    t.same(store.settings.get("ui/theme"), { dark: true, size: 1.5 });
    await store.close();
    const again = await bench.open();
    t.same(again.settings.get("ui/theme"), { dark: true, size: 1.5 });
  });

  t.test("a setting is replaced, listed by prefix and deleted", async (t) => {
    const store = await (await createBench(t, harness)).open();
    await store.settings.set("a/1", 1);
    await store.settings.set("a/1", 2);
    await store.settings.set("b/1", null);
    t.same([...store.settings.list("a/")], [["a/1", 2]]);
    await store.settings.delete("a/1");
    t.equal(store.settings.get("a/1"), undefined);
    t.equal(store.settings.get("b/1"), null);
    await t.rejects(store.settings.delete("a/1"), { code: "NO_SUCH_OBJECT" });
  });

  t.test("get returns a copy", async (t) => {
    const store = await (await createBench(t, harness)).open();
    await store.settings.set("list", [1]);
    (store.settings.get("list") as number[]).push(2);
    t.same(store.settings.get("list"), [1]);
  });

  t.test("names of the prototype are ordinary keys", async (t) => {
    const store = await (await createBench(t, harness)).open();
    for (const key of ["__proto__", "constructor"]) {
      t.equal(store.settings.get(key), undefined);
      await store.settings.set(key, key);
      t.equal(store.settings.get(key), key);
    }
    t.equal(({} as Record<string, unknown>).constructor, Object);
  });

  t.test(
    "values that are too large or cannot be stored are rejected",
    async (t) => {
      const store = await (await createBench(t, harness)).open();
      const large = "x".repeat(limits.jsonBytes);
      await t.rejects(store.settings.set("a", large), {
        code: "VALUE_TOO_LARGE",
      });
      await t.rejects(store.settings.set("a\0b", 1), {
        code: "INVALID_PARAMETERS",
      });
      await t.rejects(store.settings.set("a\ud800", 1), {
        code: "INVALID_PARAMETERS",
      });
      await t.rejects(store.settings.set("", 1), {
        code: "INVALID_PARAMETERS",
      });
      await t.rejects(store.settings.set("a", undefined), {
        code: "INVALID_PARAMETERS",
      });
      // In JSON these characters are escaped, which any database accepts.
      await store.settings.set("a", "\0\ud800 Grüße 🚀");
      t.equal(store.settings.get("a"), "\0\ud800 Grüße 🚀");
    },
  );

  t.test("a setting is written under a lease", async (t) => {
    const bench = await createBench(t, harness);
    const { settings, leases } = await bench.open();
    const old = await leases.take("s", { owner: "one", instance: "1" }, 0);
    await settings.set("a", 1, old);
    const now = await leases.take("s", { owner: "two", instance: "2" }, 0);
    const lost = { code: "LEASE_LOST" };
    await t.rejects(settings.set("a", 2, old), lost);
    await t.rejects(settings.delete("a", old), lost);
    t.equal(settings.get("a"), 1);
    await settings.delete("a", now);
    t.equal(settings.get("a"), undefined);
  });
}
