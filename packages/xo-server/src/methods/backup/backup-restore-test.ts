import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import {
  BOOT_MS,
  newTest,
  type RestoreTestState,
} from "../../backups/restore-tests/restore-test.js";
import {
  removeInterrupted,
  runRestoreTest,
} from "../../backups/restore-tests/run-restore-test.js";
import { asTask } from "../definition/as-task.js";
import { archiveId, findVmBackup } from "./backup-archive.js";
import { parts } from "./backup-restore.js";
import { defineOperation } from "../definition/define-operation.js";
import { actionRoute, idOf } from "../definition/on-object.js";

const backupNgCheckBackup = defineOperation({
  name: "backupNg.checkBackup",
  summary:
    "Test the restore of a backup: restore its VM into an isolated network, start it, wait for its guest tools or for a script in the guest, take a screenshot of its console, and delete it.",
  params: Type.Object(
    {
      id: archiveId,
      sr: idOf("the SR of the disks; the VM is started in its pool"),
      network: Type.Optional(
        Type.Enum(["closed", "none"], {
          description:
            "`closed`: a network to which only the VM is attached; `none`: no network interfaces. Default: closed.",
        }),
      ),
      bootTimeout: Type.Optional(
        Type.Integer({
          minimum: 1_000,
          maximum: 86_400_000,
          description:
            "Time within which the guest must report, in ms. Default: 600,000.",
        }),
      ),
      settings: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description: "Ignored. Clients of Xen Orchestra send it.",
          },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    success: Type.Boolean({
      description: "Whether the VM was restored and its guest has booted.",
    }),
    method: Type.Optional(
      Type.Enum(["tools", "script"], {
        description:
          "Source of the report that the guest has booted: the guest tools, or a script of the guest.",
      }),
    ),
    bootMs: Type.Optional(
      Type.Number({ description: "Time until the guest reported, in ms." }),
    ),
    durationMs: Type.Number({
      description: "Duration of the whole test, in ms.",
    }),
    hasScreenshot: Type.Optional(
      Type.Boolean({
        description: "Whether a screenshot of the console was taken.",
      }),
    ),
    error: Type.Optional(
      Type.String({ description: "Why the test failed; absent: it has not." }),
    ),
  }),
  permission: "user",
  changes: true,
  resumesAtOnce: true,
  rest: actionRoute(
    "/backup-archives/{id}/actions/check",
    "CheckBackupArchive",
  ),
  handler: async (
    { id, sr, network = "closed", bootTimeout = BOOT_MS },
    context,
  ) => {
    await findVmBackup(context, "administrate:restore", id);
    const { object } = context.objects.get(sr, "SR");
    const { clock, store, backupWorkers: workers } = context.services;
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
          newTest({ id, sr, network, bootTimeout }),
          { ...parts(context), clock, store, workers },
          task,
        ),
    );
  },
  async resume(state: RestoreTestState, context, interrupted) {
    const { task } = context;
    await removeInterrupted(state, parts(context), task, interrupted);
    throw new XoError("INTERRUPTED", {
      reason: "the VM of the restore test was deleted",
    });
  },
});

const backupArchiveGetRestoreScreenshot = defineOperation({
  name: "backupArchive.getRestoreScreenshot",
  summary:
    "Return the screenshot of the console from the last restore test of a backup.",
  params: Type.Object({ id: archiveId }, { additionalProperties: false }),
  result: Type.Object({
    time: Type.Number({ description: "Time, in ms since the epoch." }),
    png: Type.String({ description: "PNG image, in Base64." }),
  }),
  permission: "user",
  rest: {
    method: "get",
    path: "/backup-archives/{id}/restore-screenshot",
    operationId: "GetRestoreScreenshot",
    exposure: "allow",
    example: { time: 1_790_000_000_000, png: "iVBORw0KGgo…" },
  },
  async handler({ id }, context) {
    await findVmBackup(context, "administrate:restore", id);
    const found = await context.services.store.restoreScreenshots.get(id);
    if (found !== undefined) return { time: found.time, png: found.png };
    throw new XoError("NO_SUCH_OBJECT", {
      type: "screenshot of a restore test of",
      id,
    });
  },
});

/** Restore tests. */
export const backupRestoreTestOperations = [
  backupNgCheckBackup,
  backupArchiveGetRestoreScreenshot,
];
