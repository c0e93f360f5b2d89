import type { StoreHarness } from "@xo-server/store/conformance";
import type { PostgresCluster } from "./conformance/postgres-cluster.js";

/** Databases of one cluster. A new database has 300 files, so used ones are cleared and reused. */
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
          // A cluster killed by a test is deleted as a whole.
          await cluster.query(name, empty).then(
            () => free.push(name),
            () => undefined,
          );
        },
      };
    },
  };
}
