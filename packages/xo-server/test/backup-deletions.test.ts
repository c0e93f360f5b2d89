import type { Job } from "@xo-server/store";
import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import type { Archive } from "../src/backups/archives/archive.js";
import { MetadataKind } from "../src/backups/metadata/metadata-kind.js";
import type { MetadataKindParts } from "../src/backups/metadata/metadata-parts.js";
import { MirrorKind } from "../src/backups/mirror/mirror-kind.js";
import type { MirrorKindParts } from "../src/backups/mirror/mirror-parts.js";
import type { StoredBackup } from "../src/backups/run/repository-access.js";
import type { ItemRunBody } from "../src/backups/report/item-log.js";
import type { JobKind, KindRun } from "../src/jobs/job-kind.js";
import { untrackedTask } from "../src/tasks/task-context.js";

/** A server that is killed as soon as the repository has deleted something. */
class KilledServer {
  readonly steps = new Map<string, unknown>();
  /** In the target. */
  readonly stored = ["new", "old", "older"];
  isKilled = false;

  readonly remove = (_repository: string, ids: readonly string[]) => {
    for (const id of ids) this.stored.splice(this.stored.indexOf(id), 1);
    if (this.isKilled) return Promise.resolve();
    this.isKilled = true;
    return new Promise<void>(() => undefined);
  };

  run(type: string, body: object): KindRun {
    return {
      job: { id: "job", name: "job", type, userId: "u", body } as Job,
      runId: "run",
      work: {
        ...untrackedTask,
        persistStep: (key, state) => {
          this.steps.set(key, structuredClone(state));
          return Promise.resolve();
        },
      },
      interrupted: {
        steps: new Map(this.steps),
        awaitOutcomes: () => Promise.resolve([]),
      },
    };
  }
}

const users = { get: () => ({ isAdmin: true }) };
const schedules = { ofJob: () => [] };
const common = {
  users,
  store: { schedules },
  clock: { now: () => 1_000 },
  isStopping: () => false,
};
const orders: Readonly<Record<string, number>> = { older: 1, old: 2, new: 3 };

function metadataKind(server: KilledServer): JobKind {
  const toStored = (backup: string): StoredBackup => ({
    id: `target/${backup}`,
    repository: "target",
    backup,
    job: "job",
    schedule: undefined,
    run: backup === "new" ? "run" : backup,
    time: orders[backup]!,
    order: orders[backup]!,
  });
  return new MetadataKind({
    ...common,
    repositories: { get: () => ({ name: "target", state: {} }) },
    archives: {
      refresh: () => Promise.resolve(),
      ofItem: () => Promise.resolve(server.stored.map(toStored)),
      remove: server.remove,
    },
  } as unknown as MetadataKindParts);
}

function mirrorKind(server: KilledServer): JobKind {
  const toArchive = (repository: string) => (backup: string) =>
    ({
      repository,
      backup,
      vm: "vm",
      time: orders[backup]!,
      order: orders[backup]!,
      sizes: { disks: 0, read: 0, stored: 0 },
      properties: {
        vm: { name_label: "a VM" },
        mirror: { job: "job", repository: "source", backup },
      },
    }) as unknown as Archive;
  const source = { name: "source", state: {} };
  return new MirrorKind({
    ...common,
    repositories: { get: () => source, getEnabled: () => source },
    archives: { refresh: () => Promise.resolve(), remove: server.remove },
    index: {
      async *list({ repository }: { repository: string }) {
        const names = repository === "source" ? ["new"] : server.stored;
        yield names.map(toArchive(repository));
      },
    },
  } as unknown as MirrorKindParts);
}

for (const [type, create, body] of [
  ["metadataBackup", metadataKind, { server: true }],
  ["mirrorBackup", mirrorKind, { source: "source" }],
] as const)
  t.test(
    `a run of type ${type} names what its retention deleted before the server was killed`,
    async (t) => {
      const server = new KilledServer();
      const settings = {
        ...body,
        repositories: ["target"],
        retention: { keepLast: 1 },
      };
      void create(server).run(server.run(type, settings));
      while (!server.isKilled) await turn();
      t.same(server.stored, ["new"]);
      const { body: log } = await create(server).run(
        server.run(type, settings),
      );
      const [item] = (log as unknown as ItemRunBody).items;
      t.match(item, { status: "success" }, JSON.stringify(item));
      const { deleted = [] } = item!.repositories![0]!;
      t.same([...deleted].toSorted(), ["old", "older"]);
    },
  );
