import type { PostgresCluster } from "@xo-server/store/conformance";
import { setTimeout as pause } from "node:timers/promises";

/** Interval of reading the leases, in ms: the resolution of what is measured, with the time of a connection. */
const LOOK_MS = 5;
const TIMEOUT_MS = 120_000;

/** Owners of the leases that are valid now, by subject; without those on the tasks of servers. */
export async function ownersOf(
  postgres: PostgresCluster,
): Promise<ReadonlyMap<string, string>> {
  const rows = await postgres.query(
    "xo",
    `select id, owner from leases
      where id not like 'server/%' and instance <> ''
        and expires_at > extract(epoch from clock_timestamp()) * 1000`,
  );
  return new Map(
    (rows as { id: string; owner: string }[]).map(({ id, owner }) => [
      id,
      owner,
    ]),
  );
}

/** @returns ms until the condition holds. @throws Error after two minutes */
export async function timeUntil(
  what: string,
  isMet: () => Promise<boolean> | boolean,
): Promise<number> {
  const begin = performance.now();
  while (!(await isMet())) {
    if (performance.now() - begin > TIMEOUT_MS)
      throw new Error(`not within ${TIMEOUT_MS / 1000} s: ${what}`);
    await pause(LOOK_MS);
  }
  return performance.now() - begin;
}
