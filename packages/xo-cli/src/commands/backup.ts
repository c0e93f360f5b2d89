import { Command } from "commander";
import { findArchive } from "../backup/archive.js";
import { findBackupJob, readBackupJobs } from "../backup/job.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { printRows } from "../output/print-rows.js";
import { toReadable } from "../output/readable.js";
import { confirm } from "../prompt.js";
import { runAction } from "../server/run-action.js";
import { backupDownloadCommand } from "./backup-download.js";
import { backupListCommand } from "./backup-list.js";

const ARGUMENTS = `
JOB and REPOSITORY are ids or names. BACKUP is the id of a backup, or the UUID or name of
a VM: its newest backup that is not damaged. Restores: xo-cli restore --help`;

export function backupCommand(run: Run): Command {
  return new Command("backup")
    .description("list, run, download and delete backups")
    .addHelpText("after", ARGUMENTS)
    .addCommand(backupListCommand(run))
    .addCommand(jobsCommand(run))
    .addCommand(runCommand(run))
    .addCommand(planCommand(run))
    .addCommand(coverageCommand(run))
    .addCommand(backupDownloadCommand(run))
    .addCommand(deleteCommand(run));
}

function jobsCommand(run: Run): Command {
  return new Command("jobs")
    .description("list jobs that create, copy or test backups")
    .action((_options: object, command: Command) => {
      run(command, async (context) => {
        const rpc = await (await context.server()).signIn();
        const objects = await readBackupJobs(rpc);
        await printRows(context, {
          objects,
          rows: objects,
          columns: ["name", "type", "id"],
          none: "No backup jobs",
        });
      });
    });
}

function runCommand(run: Run): Command {
  return new Command("run")
    .description("run a backup job now")
    .argument("<job>", "id or name, see xo-cli backup jobs")
    .option("--no-wait", "do not wait for its end")
    .action((name: string, { wait }: { wait: boolean }, command: Command) => {
      run(command, async (context) => {
        const server = await context.server();
        const { id } = await findBackupJob(await server.signIn(), name);
        const path = `jobs/${encodeURIComponent(id)}/actions/run`;
        await runAction(context, server, { path, wait });
      });
    });
}

function planCommand(run: Run): Command {
  return new Command("plan")
    .description("show what a run of a job would do now, and why")
    .argument("<job>", "id or name, see xo-cli backup jobs")
    .action((name: string, _options: object, command: Command) => {
      run(command, async (context) => {
        const rpc = await (await context.server()).signIn();
        const { id } = await findBackupJob(rpc, name);
        await print(context, await rpc.call("job.plan", { id }));
      });
    });
}

interface CoveredVm {
  readonly vm: string;
  readonly name: string;
  readonly lastBackup?: number;
}

type Coverage = Readonly<
  Record<"protected" | "notProtected" | "excluded", readonly CoveredVm[]>
>;

function coverageCommand(run: Run): Command {
  return new Command("coverage")
    .description("list VMs that no scheduled job backs up")
    .action((_options: object, command: Command) => {
      run(command, async (context) => {
        const rpc = await (await context.server()).signIn();
        const objects = (await rpc.call("backup.coverage")) as Coverage;
        await printRows(context, {
          objects,
          rows: objects.notProtected.map(({ vm, name, lastBackup }) => ({
            name,
            ...(lastBackup === undefined ? {} : { last_time: lastBackup }),
            id: vm,
          })),
          columns: ["name", "last_time", "id"],
          none: "All VMs are backed up or excluded",
        });
      });
    });
}

function deleteCommand(run: Run): Command {
  return new Command("delete")
    .description("delete backups; no other backup depends on them")
    .argument("<backups...>", "ids, see xo-cli backup list")
    .option("--yes", "do not ask for confirmation")
    .action((ids: string[], { yes }: { yes?: boolean }, command: Command) => {
      run(command, async (context) => {
        const rpc = await (await context.server()).signIn();
        for (const id of ids) if (id.includes("/")) await findArchive(rpc, id);
        if (yes !== true)
          await confirm(
            context.host,
            `${ids.length === 1 ? "The backup is" : `${ids.length} backups are`} deleted and cannot be recovered`,
          );
        await print(
          context,
          await rpc.call("backupNg.deleteVmBackups", { ids }),
        );
      });
    });
}

async function print({ terminal }: Context, value: unknown): Promise<void> {
  if (terminal.json) await terminal.jsonLine(value);
  else await terminal.write(toReadable(value));
}
