import { Command } from "commander";
import { readArchives } from "../backup/archive.js";
import {
  findRepository,
  readRepositories,
  type Repository,
} from "../backup/repository.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { printRows } from "../output/print-rows.js";

interface ListOptions {
  readonly repository?: string;
}

export function backupListCommand(run: Run): Command {
  return new Command("list")
    .description("list backups of VMs, newest first")
    .argument("[vm]", "UUID or name; also of a VM that no longer exists")
    .option("--repository <repository>", "only in this one, by id or name")
    .action(
      (vm: string | undefined, options: ListOptions, command: Command) => {
        run(command, (context) => list(context, vm, options));
      },
    );
}

async function list(
  context: Context,
  vm: string | undefined,
  { repository }: ListOptions,
): Promise<void> {
  const rpc = await (await context.server()).signIn();
  const repositories =
    repository === undefined
      ? await readRepositories(rpc)
      : [await findRepository(rpc, repository)];
  const objects = await readArchives(rpc, {
    vm,
    ...(repository === undefined ? {} : { repository: repositories[0]!.id }),
  });
  const names = new Map(repositories.map(({ id, name }) => [id, name]));
  await printRows(context, {
    objects,
    rows: objects.map((archive) => ({
      time: archive.timestamp,
      vm: archive.vm?.name_label ?? "",
      repository:
        names.get(archive.backupRepository) ?? archive.backupRepository,
      mode: archive.mode === "delta" ? "incremental" : archive.mode,
      disks: archive.disks.length,
      size: archive.size,
      verification: archive.verification,
      id: archive.id,
    })),
    columns: [
      "time",
      "vm",
      "repository",
      "mode",
      "disks",
      "size",
      "verification",
      "id",
    ],
    none: noneText(repositories),
  });
}

/** Says which repositories may have backups that are not listed. */
function noneText(repositories: readonly Repository[]): string {
  const unusable = repositories.flatMap(({ name, error }) =>
    error === undefined ? [] : [`${name} (${error.code})`],
  );
  return unusable.length === 0
    ? "No backups"
    : `No backups; repositories that cannot be used: ${unusable.join(", ")}`;
}
