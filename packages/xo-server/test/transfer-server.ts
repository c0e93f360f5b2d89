import { createHash } from "node:crypto";
import fastify from "fastify";
import type { Test } from "tap";
import { HeldLease } from "../src/cluster/held-lease.js";
import { OneTimePaths } from "../src/transfers/one-time-paths.js";
import { addOneTimePaths } from "../src/api/transfers/one-time-routes.js";
import type { AuditedCall } from "../src/operations/audit.js";
import { Tasks } from "../src/tasks/tasks.js";
import { Transfers } from "../src/transfers/transfers.js";
import { createFakeAudit } from "./fake-audit.js";
import { FakeClient } from "./fake-client.js";
import { FakeClock } from "./fake-clock.js";
import { FakeTaskStore } from "./fake-task-store.js";

const context = {
  permission: "admin",
  client: new FakeClient(),
  address: "192.0.2.7",
} as const;

export const subject = {
  operation: "disk.move",
  name: "Move of d",
  object: { id: "d", type: "VDI" },
  params: { format: "raw" },
  context,
};

export const MiB = 2 ** 20;

/** @param lease of one of several servers */
export async function setUp(t: Test, lease?: HeldLease) {
  const clock = new FakeClock();
  const written: AuditedCall[] = [];
  let onWritten: () => void = () => undefined;
  const store = new FakeTaskStore();
  const logger = { warn: () => undefined };
  const tasks = new Tasks({
    store,
    owner: "here",
    clock,
    logger,
    ...(lease && { lease: () => lease, isShared: true }),
  });
  const paths = new OneTimePaths({ clock });
  const transfers = new Transfers({
    paths,
    clock,
    tasks,
    idleMs: 60_000,
    audit: createFakeAudit({
      check: () => undefined,
      write: async (call) => {
        written.push(call);
        onWritten();
      },
    }),
  });
  const app = fastify({ forceCloseConnections: true });
  t.teardown(() => app.close());
  addOneTimePaths(app, paths);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    clock,
    written,
    store,
    tasks,
    transfers,
    url,
    /** What is written down of the transfer when it has ended. */
    outcome: async (): Promise<AuditedCall> => {
      while (written.length === 0)
        await new Promise<void>((resolve) => (onWritten = resolve));
      return written[0]!;
    },
  };
}

export const sha256 = (bytes: Buffer) =>
  createHash("sha256").update(bytes).digest();
