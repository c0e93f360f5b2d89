import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testPlugins(t: Test, harness: StoreHarness) {
  t.test(
    "a configuration is encrypted, also after a key rotation",
    async (t) => {
      const bench = await createBench(t, harness);
      const store = await bench.open();
      t.equal(store.plugins.get("openmetrics"), undefined);
      t.equal(store.plugins.configuration("openmetrics"), undefined);
      const configuration = { secret: "PLUGINSECRET" };
      await store.plugins.set("openmetrics", { configuration });
      await store.plugins.set("openmetrics", { autoload: true });
      t.notMatch(await bench.dump(), "PLUGINSECRET");
      await store.rotateKey();
      await store.close();
      const again = await bench.open();
      t.same(again.plugins.get("openmetrics"), {
        id: "openmetrics",
        autoload: true,
        isConfigured: true,
      });
      t.same(again.plugins.configuration("openmetrics"), configuration);
      await again.plugins.set("openmetrics", { configuration: undefined });
      t.match(again.plugins.get("openmetrics"), {
        autoload: true,
        isConfigured: false,
      });
    },
  );
}
