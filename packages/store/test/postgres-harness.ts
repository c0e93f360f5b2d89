import { randomUUID } from "node:crypto";
import type { StoreHarness } from "@xo-server/store/conformance";
import type { PostgresCluster } from "./postgres-cluster.js";

/** A database of its own for each test, in one cluster. */
export function createPostgresHarness(cluster: PostgresCluster): StoreHarness {
  return {
    async createDatabase() {
      const name = `test_${randomUUID().replaceAll("-", "")}`;
      await cluster.query("postgres", `create database ${name}`);
      return {
        location: cluster.url(name),
        query: (sql) => cluster.query(name, sql),
        remove: async () => undefined, // The cluster goes.
      };
    },
  };
}
