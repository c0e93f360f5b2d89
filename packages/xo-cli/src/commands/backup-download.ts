import { Command, Option } from "commander";
import { findArchive, type Archive } from "../backup/archive.js";
import { usageError } from "../cli-error.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { findNamed } from "../objects/find-named.js";
import { download } from "../server/transfer.js";

interface DownloadOptions {
  readonly disk?: string;
  readonly format?: "xva" | "vhd" | "raw";
  readonly output?: string;
}

/** `xo-cli backup download`: writes the bytes to stdout or a file. */
export function backupDownloadCommand(run: Run): Command {
  return new Command("download")
    .description("download a VM from a backup as XVA, or one of its disks")
    .argument("<backup>", "id, or UUID or name of a VM: its newest backup")
    .option("--disk <disk>", "only this disk, by UUID or name")
    .addOption(
      new Option(
        "--format <format>",
        "default: xva; of a disk vhd or raw, default: vhd",
      ).choices(["xva", "vhd", "raw"]),
    )
    .option("--output <file>", "default: stdout")
    .action((backup: string, options: DownloadOptions, command: Command) => {
      run(command, (context) => downloadBackup(context, backup, options));
    });
}

async function downloadBackup(
  context: Context,
  backup: string,
  options: DownloadOptions,
): Promise<void> {
  const { terminal } = context;
  const { disk, output } = options;
  const { format = disk === undefined ? "xva" : "vhd" } = options;
  if ((disk === undefined) !== (format === "xva"))
    throw usageError(
      `--format ${format} ${disk === undefined ? "needs" : "is not possible with"} --disk`,
      "an XVA has all disks; vhd and raw have one",
    );
  if (output === undefined && terminal.isInteractive)
    throw usageError(
      "a backup is not printed on a terminal",
      "add --output file",
    );
  const server = await context.server();
  const rpc = await server.signIn();
  const archive = await findArchive(rpc, backup);
  const { id } = archive;
  const offered = (await (disk === undefined
    ? rpc.call("backup.downloadVm", { id })
    : rpc.call("backup.downloadDisk", {
        id,
        disk: nameOfDisk(archive, disk),
        format,
      }))) as { readonly $getFrom: string };
  const path = offered.$getFrom.replace(/^\/+/, "");
  const response = await server.rest.request({ method: "GET", path });
  await download(response, output, terminal);
  if (output !== undefined && terminal.json)
    await terminal.jsonLine({ file: output });
}

/** Its name in the backup. @param text that or the name of the disk on its pool */
export function nameOfDisk({ id, disks }: Archive, text: string): string {
  const named = disks.map((disk) => {
    return { id: disk.id.slice(id.length + 1), name: disk.name };
  });
  return findNamed(named, text, "disk of the backup").id;
}
