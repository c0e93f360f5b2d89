import { Type } from "typebox";
import {
  endRestoreTest,
  runRestoreTest,
} from "../backups/restore/run-restore-test.js";
import { newState, type RestoreState } from "../backups/restore/run-restore.js";
import { asTask } from "./as-task.js";
import { archiveId, checkRepository } from "./backup-archive.js";
import { parts } from "./backup-restore.js";
import { defineOperation } from "./define-operation.js";
import { actionRoute, idOf } from "./on-object.js";

export const backupNgCheckBackup = defineOperation({
  name: "backupNg.checkBackup",
  summary:
    "Tests a backup: restores its VM into a network of its own, starts it, waits up to 10 minutes for its guest tools, and deletes it.",
  params: Type.Object(
    {
      id: archiveId,
      sr: idOf("the SR of the disks; the VM is started in its pool"),
      settings: Type.Optional(Type.Object({}, { additionalProperties: true })),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    success: Type.Boolean(),
    bootMs: Type.Optional(
      Type.Number({ description: "Until the guest tools reported, in ms." }),
    ),
    durationMs: Type.Number(),
    error: Type.Optional(Type.String()),
  }),
  permission: "user",
  changes: true,
  resumesAtOnce: true,
  rest: actionRoute(
    "/backup-archives/{id}/actions/check",
    "CheckBackupArchive",
  ),
  handler: ({ id, sr }, context) => {
    checkRepository(context, "administrate:restore", id);
    const { object } = context.objects.get(sr, "SR");
    const state = newState({
      id,
      sr,
      srs: {},
      networks: {},
      newMacs: true,
      start: false,
      differential: false,
    });
    const test: RestoreState = {
      ...state,
      request: { ...state.request, name: state.token },
    };
    return asTask(
      context,
      {
        name: `Restore test of ${id}`,
        objectId: String(object["$pool"]),
        objectType: "pool",
        operation: "backupNg.checkBackup",
        params: { id, sr },
      },
      (task) =>
        runRestoreTest(
          test,
          { ...parts(context), clock: context.services.clock },
          task,
        ),
    );
  },
  resume: (state: RestoreState, context, { steps }) =>
    endRestoreTest(state, parts(context), context.task, steps),
});

/** Restore tests. */
export const backupRestoreTestOperations = [backupNgCheckBackup];
