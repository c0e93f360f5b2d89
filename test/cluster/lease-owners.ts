import type { PostgresCluster } from "@xo-server/store/conformance";
import { setTimeout as pause } from "node:timers/promises";

/** Names of the servers that have leases now, by subject. */
export async function ownersOf(
  postgres: PostgresCluster,
): Promise<ReadonlyMap<string, string>> {
  const rows = await postgres.query(
    "xo",
    `select id, owner from leases
      where instance <> '' and expires_at > extract(epoch from clock_timestamp()) * 1000`,
  );
  return new Map(
    (rows as { id: string; owner: string }[]).map(({ id, owner }) => [
      id,
      owner,
    ]),
  );
}

/** Repeats the query; the time limit of the test ends it. */
export async function until(isMet: () => Promise<boolean>): Promise<void> {
  while (!(await isMet())) await pause(50);
}
