import t from "tap";
import { createBench, testStore } from "@xo-server/store/conformance";
import { describeStore, fillStore } from "./conformance/configuration.js";
import { collect, once } from "./conformance/harness.js";
import {
  findPostgres,
  PostgresCluster,
} from "./conformance/postgres-cluster.js";
import { createPostgresHarness } from "./postgres-harness.js";
import { sqliteHarness } from "./sqlite-harness.js";

// A database for each of its hundred tests, on a busy machine.
t.comment("timeout=480000");
const bin = findPostgres();
const skip = bin === undefined && "Debian's postgresql is not installed";

t.test("PostgreSQL", { skip }, async (t) => {
  const cluster = new PostgresCluster(bin!);
  t.teardown(() => cluster.remove());
  await cluster.start();
  const harness = createPostgresHarness(cluster);
  await testStore(t, harness);

  await t.test("a configuration moves between the engines", async (t) => {
    const embedded = await (await createBench(t, sqliteHarness)).open();
    const shared = await (await createBench(t, harness)).open();
    const back = await (await createBench(t, sqliteHarness)).open();
    const { serverId } = await fillStore(embedded);
    const words = "a long passphrase";
    const first = await collect(embedded.exportConfiguration(words));
    await shared.importConfiguration(once(first), words);
    t.same(describeStore(shared), describeStore(embedded));
    const second = await collect(shared.exportConfiguration(words));
    await back.importConfiguration(once(second), words);
    t.same(describeStore(back), describeStore(embedded));
    t.equal(back.servers.credentials(serverId).password, "pool-secret");
  });
});
