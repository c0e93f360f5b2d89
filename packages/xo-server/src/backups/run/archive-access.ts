import { takenAt, type Archive } from "../archives/archive.js";
import type { Archives } from "../archives/archives.js";
import type { Repositories } from "../repositories/repositories.js";
import type { ArchiveAccess, StoredBackup } from "./repository-access.js";

/** The backups of VMs in repositories, for runs. */
export function createArchiveAccess(
  archives: Pick<Archives, "ofVm" | "ofItem" | "refresh" | "remove">,
  repositories: Pick<Repositories, "run">,
): ArchiveAccess {
  return {
    async ofVm(vm) {
      return ownBackups(await archives.ofVm(vm));
    },
    async ofItem(repository, item) {
      return ownBackups(await archives.ofItem(repository, item));
    },
    async refresh(repository, isAfterCrash = false) {
      // The server may have stopped before it stored the state of the log.
      if (isAfterCrash) await repositories.run(repository, { type: "open" });
      await archives.refresh(repository);
    },
    remove: (repository, backups) =>
      archives.remove(backups.map((one) => `${repository}/${one}`)),
  };
}

/** Backups of a job without copies, to which the retention of their mirror job applies. */
function ownBackups(all: readonly Archive[]): StoredBackup[] {
  return all
    .filter(({ properties }) => properties["mirror"] === undefined)
    .map(toStored);
}

function toStored(archive: Archive): StoredBackup {
  const { id, repository, backup, order, properties } = archive;
  const { job, schedule, run } = properties;
  return {
    id,
    repository,
    backup,
    order,
    job: String(job),
    schedule: typeof schedule === "string" ? schedule : undefined,
    run: String(run),
    time: takenAt(archive),
  };
}
