import type { StoreHarness } from "@xo-server/store/conformance";
import type { PostgresCluster } from "./postgres-cluster.js";

/** Databases of one cluster. A new one is 300 files, so those that tests are done with are emptied and used again. */
export function createPostgresHarness(cluster: PostgresCluster): StoreHarness {
  const free: string[] = [];
  let count = 0;

  async function take(): Promise<string> {
    const known = free.pop();
    if (known !== undefined) return known;
    const name = `test_${++count}`;
    await cluster.query("postgres", `create database ${name}`);
    return name;
  }

  return {
    async createDatabase() {
      const name = await take();
      return {
        location: cluster.url(name),
        query: (sql) => cluster.query(name, sql),
        async remove() {
          const empty = "drop schema public cascade; create schema public";
          // A cluster that a test has killed goes as a whole.
          await cluster.query(name, empty).then(
            () => free.push(name),
            () => undefined,
          );
        },
      };
    },
  };
}
