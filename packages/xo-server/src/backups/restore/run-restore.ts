import type { Ref } from "@xo-server/model";
import { randomUUID } from "node:crypto";
import type { HandlerContext } from "../../operations/operation.js";
import type { TaskContext } from "../../tasks/task-context.js";
import type { Archives } from "../archives/archives.js";
import type { Repositories } from "../repositories/repositories.js";
import { findBase } from "./find-base.js";
import { prepareRestore, type PreparedRestore } from "./prepare-restore.js";
import { createDiskUploader } from "./disk-uploader.js";
import { RestoreJournal } from "./restore-journal.js";
import type { RestoreRequest } from "./restore-plan.js";
import { RestoreProgress } from "./restore-progress.js";
import { withoutSet, type RestoreShares } from "./restore-share.js";
import { restoreVm } from "./restore-vm.js";

/** Persisted state, from which a restore can begin again. */
export interface RestoreState {
  readonly request: RestoreRequest;
  /** Unique name of the VM until it is complete. */
  readonly token: string;
}

export interface RestoreContext extends Pick<
  HandlerContext,
  "objects" | "check" | "signal"
> {
  readonly repositories: Repositories;
  readonly archives: Pick<Archives, "ofVm">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Network of all interfaces instead of those of the backup; null: the VM has no interfaces. */
  readonly network?: Ref | null;
  /** Added to other_config of the VM. */
  readonly marks?: Readonly<Record<string, string>>;
  /** Absent: resource sets do not limit the restore. */
  readonly shares?: RestoreShares;
}

interface RestoredVm {
  readonly id: string;
  readonly ref: Ref;
  readonly prepared: PreparedRestore;
}

/** State of a restore, persisted before the first call. The token marks all objects that it creates. */
export function newState(request: RestoreRequest): RestoreState {
  return { request, token: `[restore ${randomUUID()}]` };
}

/**
 * Restores a VM, or continues the restore of the previous run of the server.
 * @param state which the caller has persisted, on its own or as a part of its own state
 * @param steps that the previous run has persisted
 * @throws XapiError; XoError NO_SUCH_OBJECT, FORBIDDEN, BACKUP_*, ABORTED, LEFT_BEHIND
 */
export async function runRestore(
  state: RestoreState,
  context: RestoreContext,
  task: TaskContext,
  steps?: ReadonlyMap<string, unknown>,
): Promise<RestoredVm> {
  const { request, token } = state;
  const { repositories, now, network } = context;
  const objects = context.objects.forTask(task);
  const prepared = await prepareRestore(request, {
    ...context,
    objects,
    ownNetworks: network === undefined,
  });
  const { repository, backup, plan, srOf } = prepared;
  const { xapi } = objects.get(request.sr, "SR");
  const total = plan.disks.reduce((sum, { size }) => sum + size, 0);
  const progress = new RestoreProgress(task, total, now);
  const known = request.differential
    ? new Set(
        (await context.archives.ofVm(plan.uuid))
          .filter((one) => one.repository === repository)
          .map((one) => one.backup),
      )
    : new Set<string>();
  const share = await context.shares?.take(plan);
  const unmarked = share === undefined ? plan : withoutSet(plan);
  const restored = restoreVm({
    xapi,
    cleanupXapi: objects.untracked.get(request.sr, "SR").xapi,
    plan: network === null ? { ...unmarked, vifs: [] } : unmarked,
    name: request.name ?? plan.name,
    token,
    archive: request.id,
    keepsMacs: prepared.keepsMacs,
    start: request.start,
    srOf,
    networkOf:
      network === undefined ? prepared.networkOf : () => network ?? undefined,
    marks: context.marks ?? {},
    baseOf: async (disk) =>
      request.differential
        ? findBase(xapi, disk, {
            repository,
            sr: srOf(disk.name),
            known: (id) => known.has(id),
          })
        : undefined,
    upload: createDiskUploader({
      xapi,
      repositories,
      repository,
      backup,
      task,
      progress,
    }),
    task,
    journal: new RestoreJournal(task, steps),
  });
  const ref = await restored.catch(async (error: unknown) => {
    await share?.release();
    throw error;
  });
  task.info("the VM was restored", {
    bytes: progress.done,
    bytesPerSecond: progress.rate,
  });
  const id = (await xapi.call("VM.get_uuid", [ref])) as string;
  await share?.own(xapi, { ref, id });
  return { id, ref, prepared };
}
