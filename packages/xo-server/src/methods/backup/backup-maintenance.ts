import { Type } from "typebox";
import type { VerificationReport } from "../../backups/maintenance/maintenance.js";
import { asTask } from "../definition/as-task.js";
import { FOLDER, closed, id } from "./backup-repository.js";
import { defineOperation } from "../definition/define-operation.js";
import { REPOSITORY_TYPE } from "./find-repository.js";
import { actionRoute } from "../definition/on-object.js";

const bytes = (what: string) =>
  Type.Number({ description: `${what}, in bytes.` });

const backupRepositoryVerify = defineOperation({
  name: "backupRepository.verify",
  summary:
    "Verify a backup repository: read its files, compare their checksums, and repair damaged files from parity or from copies in other repositories.",
  params: Type.Object(
    {
      id,
      all: Type.Optional(
        Type.Boolean({
          description:
            "true: verifies all data. Default: verifies new backups, and data whose verification is due.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Object({
    checked: bytes("Data that was read"),
    backups: Type.Number(),
    repaired: Type.Number({ description: "Number of repaired files." }),
    findings: Type.Array(Type.Unknown(), {
      description: "Damaged files that could not be repaired.",
    }),
    unknownFiles: Type.Array(Type.String(), {
      description:
        "Names of files that other programs have left, at most 100. They are never deleted.",
    }),
  }),
  permission: "admin",
  changes: true,
  rest: actionRoute(`${FOLDER}/{id}/actions/verify`, "VerifyBackupRepository"),
  handler: ({ id, all = false }, context) => {
    const { backupRepositories, backupMaintenance } = context.services;
    const { name } = backupRepositories.get(id);
    return asTask(context, subject(`Verification of ${name}`, id), (work) =>
      backupMaintenance.verify(id, work, all).then(toMutable),
    );
  },
});

const backupRepositoryCollectGarbage = defineOperation({
  name: "backupRepository.collectGarbage",
  summary:
    "Collect garbage in a backup repository: delete the files that no backup needs and that were marked for deletion at least a day ago, and mark new ones.",
  params: Type.Object({ id }, closed),
  result: Type.Object({
    marked: Type.Number(),
    unmarked: Type.Number(),
    deleted: Type.Number(),
    freed: bytes("Space of the deleted files"),
  }),
  permission: "admin",
  changes: true,
  rest: actionRoute(
    `${FOLDER}/{id}/actions/collect_garbage`,
    "CollectBackupRepositoryGarbage",
  ),
  handler: ({ id }, context) => {
    const { backupRepositories, backupMaintenance } = context.services;
    const { name } = backupRepositories.get(id);
    return asTask(
      context,
      subject(`Garbage collection of ${name}`, id),
      (work) => backupMaintenance.collect(id, work),
    );
  },
});

function subject(name: string, objectId: string) {
  return { name, objectId, objectType: REPOSITORY_TYPE, params: {} };
}

function toMutable({ findings, unknownFiles, ...report }: VerificationReport) {
  return {
    ...report,
    findings: [...findings] as unknown[],
    unknownFiles: [...unknownFiles],
  };
}

/** Verification and garbage collection of backup repositories on request. */
export const backupMaintenanceOperations = [
  backupRepositoryVerify,
  backupRepositoryCollectGarbage,
];
