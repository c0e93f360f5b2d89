import { monotonicClock, silentLogger } from "@xo-server/kit";
import { openStore, type Store } from "@xo-server/store";
import { findPostgres, PostgresCluster } from "@xo-server/store/conformance";
import { Leases } from "@xo-server/xo-server";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Figures } from "../harness/figures.js";
import { familyCpuMs, threadCpuMs } from "../harness/process-cpu.js";
import { LEASE_MS, nameOf } from "./server-group.js";

/** Interval of looking whether all leases have been taken, in ms. */
const POLL_MS = 100;

/**
 * The cost of the leases of many pools alone: participants without a mirror, in this process.
 * @param subjects number of leases
 * @param forMs length of the measurements without leases and with them, in ms
 */
export async function measureLeases(
  subjects: number,
  servers: number,
  forMs: number,
): Promise<Figures> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error("PostgreSQL is not installed");
  const postgres = new PostgresCluster(bin);
  const folder = await mkdtemp(join(tmpdir(), "xo-leases-"));
  const stores: Store[] = [];
  const participants: Leases[] = [];
  try {
    await postgres.start();
    await postgres.query("postgres", "create database xo");
    for (let i = 0; i < servers; i++)
      stores.push(
        await openStore({
          location: postgres.url("xo"),
          key: { file: join(folder, "store.key") },
        }),
      );
    const without = await measureCpu(postgres, forMs);
    const renewals = await compete(stores, subjects, participants);
    const begun = renewals();
    const used = await measureCpu(postgres, forMs);
    return {
      leases: subjects,
      postgresPercent: used.postgresPercent,
      restPercent: without.postgresPercent,
      renewalCpuMs:
        (used.threadMs - without.threadMs) / Math.max(1, renewals() - begun),
    };
  } finally {
    await Promise.all(participants.map((one) => one.stop()));
    await Promise.all(stores.map((store) => store.close()));
    await postgres.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each participant takes its share. @returns reads the number of renewals so far, each of all leases of one participant */
async function compete(
  stores: readonly Store[],
  subjects: number,
  participants: Leases[],
): Promise<() => number> {
  let renewals = 0;
  const names = stores.map((_, i) => nameOf(i));
  const held = stores.flatMap(({ leases: store }, i) => {
    const leases = new Leases({
      store: {
        take: (...args) => store.take(...args),
        renew: (...args) => {
          renewals++;
          return store.renew(...args);
        },
        release: (...args) => store.release(...args),
        request: (...args) => store.request(...args),
        transfer: (...args) => store.transfer(...args),
        listFree: (...args) => store.listFree(...args),
        list: () => store.list(),
      },
      self: { owner: names[i]!, instance: names[i]! },
      isShared: true,
      servers: () => names,
      leaseMs: LEASE_MS,
      clock: monotonicClock,
      logger: silentLogger,
    });
    participants.push(leases);
    return Array.from({ length: subjects }, (_, subject) =>
      leases.compete(`balancer/${subject}`),
    );
  });
  while (held.filter(({ lease }) => lease !== undefined).length < subjects)
    await pause(POLL_MS);
  // Renewals in the rhythm of a cluster at rest.
  await pause(2 * LEASE_MS);
  return () => renewals;
}

/** CPU time of all processes of PostgreSQL, in % of a core, and of the main thread of this process, in ms. */
async function measureCpu(postgres: PostgresCluster, forMs: number) {
  const read = () => ({
    postgresMs: familyCpuMs(postgres.pid!),
    threadMs: threadCpuMs(process.pid),
  });
  const before = read();
  await pause(forMs);
  const after = read();
  return {
    postgresPercent: (100 * (after.postgresMs - before.postgresMs)) / forMs,
    threadMs: after.threadMs - before.threadMs,
  };
}
