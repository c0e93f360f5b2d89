import { Command, InvalidArgumentError, Option } from "commander";
import { findArchive, type Archive } from "../backup/archive.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { idOf } from "../objects/object-names.js";
import { confirm } from "../prompt.js";
import type { Rpc } from "../server/rpc.js";
import { runAction } from "../server/run-action.js";
import { nameOfDisk } from "./backup-download.js";

const BACKUP = "id, or UUID or name of a VM: its newest backup";
const SR = "SR of the disks, by id or name";

const ARGUMENTS = `
BACKUP is the id of a backup (xo-cli backup list), or the UUID or name of a VM: its newest
backup that is not damaged. SRs and networks are ids or names.`;

export function restoreCommand(run: Run): Command {
  return new Command("restore")
    .description("restore VMs and disks of backups, and test restores")
    .addHelpText("after", ARGUMENTS)
    .addCommand(vmCommand(run))
    .addCommand(overCommand(run))
    .addCommand(diskCommand(run))
    .addCommand(testCommand(run));
}

interface VmOptions {
  readonly sr: string;
  readonly name?: string;
  readonly start?: boolean;
  readonly macs?: "new" | "same";
  readonly network: Readonly<Record<string, string | null>>;
  readonly differential?: boolean;
  readonly wait: boolean;
}

function vmCommand(run: Run): Command {
  return new Command("vm")
    .description("restore a VM as a new one")
    .argument("<backup>", BACKUP)
    .requiredOption("--sr <sr>", `${SR}; its pool gets the VM`)
    .option("--name <name>", "name of the new VM")
    .option("--start", "start it when it is complete")
    .option(
      "--network <interface=network>",
      "network of an interface by its number, such as 0=LAN; 1= for none",
      toNetwork,
      {},
    )
    .addOption(
      new Option(
        "--macs <macs>",
        "MAC addresses; default: same, unless the VM still exists",
      ).choices(["new", "same"]),
    )
    .option(
      "--differential",
      "begin with snapshots of the VM, write only what differs",
    )
    .option("--no-wait", "do not wait for its end")
    .action((backup: string, options: VmOptions, command: Command) => {
      run(command, (context) =>
        act(context, backup, async ({ rpc }) => ({
          action: "restore",
          params: await toParams(rpc, options),
          wait: options.wait,
        })),
      );
    });
}

async function toParams(
  rpc: Rpc,
  { sr, name, start, macs, network, differential }: VmOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const networks = await Promise.all(
    Object.entries(network).map(
      async ([device, text]) =>
        [device, text && (await idOf(rpc, "network", text))] as const,
    ),
  );
  return {
    sr: await idOf(rpc, "SR", sr),
    ...(name === undefined ? {} : { name }),
    ...(start === undefined ? {} : { start }),
    ...(macs === undefined ? {} : { newMacs: macs === "new" }),
    ...(networks.length === 0
      ? {}
      : { networks: Object.fromEntries(networks) }),
    ...(differential === undefined ? {} : { differential }),
  };
}

function toNetwork(
  text: string,
  before: VmOptions["network"],
): VmOptions["network"] {
  const [, device, network] = /^(\d+)=(.*)$/.exec(text) ?? [];
  if (device === undefined)
    throw new InvalidArgumentError("Must be such as 0=LAN, or 1= for none.");
  return { ...before, [device]: network === "" ? null : network! };
}

interface OverOptions {
  readonly yes?: boolean;
  readonly wait: boolean;
}

function overCommand(run: Run): Command {
  return new Command("over")
    .description("replace the disks of a halted VM")
    .argument("<backup>", BACKUP)
    .argument("<vm>", "id or name of the VM that is replaced")
    .option("--yes", "do not ask for confirmation")
    .option("--no-wait", "do not wait for its end")
    .action(
      (
        backup: string,
        name: string,
        options: OverOptions,
        command: Command,
      ) => {
        run(command, (context) =>
          act(context, backup, async ({ rpc, archive }) => {
            const vm = await idOf(rpc, "VM", name);
            const time = new Date(archive.timestamp).toISOString();
            if (options.yes !== true)
              await confirm(
                context.host,
                `The disks of ${name} are replaced by those of ${time}`,
              );
            const { wait } = options;
            return { action: "restore_over", params: { vm }, wait };
          }),
        );
      },
    );
}

interface DiskOptions {
  readonly sr: string;
  readonly name?: string;
  readonly wait: boolean;
}

function diskCommand(run: Run): Command {
  return new Command("disk")
    .description("restore one disk as a new one")
    .argument("<backup>", BACKUP)
    .argument("<disk>", "UUID or name of the disk")
    .requiredOption("--sr <sr>", SR)
    .option("--name <name>", "name of the new disk")
    .option("--no-wait", "do not wait for its end")
    .action(
      (
        backup: string,
        disk: string,
        options: DiskOptions,
        command: Command,
      ) => {
        run(command, (context) =>
          act(context, backup, async ({ rpc, archive }) => {
            const { sr, name, wait } = options;
            const params = {
              disk: nameOfDisk(archive, disk),
              sr: await idOf(rpc, "SR", sr),
              ...(name === undefined ? {} : { name }),
            };
            return { action: "restore_disk", params, wait };
          }),
        );
      },
    );
}

interface TestOptions {
  readonly sr: string;
  readonly wait: boolean;
}

function testCommand(run: Run): Command {
  return new Command("test")
    .description(
      "restore a VM into an isolated network, start it, wait for its guest tools, delete it",
    )
    .argument("<backup>", BACKUP)
    .requiredOption("--sr <sr>", SR)
    .option("--no-wait", "do not wait for its end")
    .action((backup: string, options: TestOptions, command: Command) => {
      run(command, (context) =>
        act(context, backup, async ({ rpc }) => ({
          action: "check",
          params: { sr: await idOf(rpc, "SR", options.sr) },
          wait: options.wait,
        })),
      );
    });
}

interface Target {
  readonly rpc: Rpc;
  readonly archive: Archive;
}

interface BackupAction {
  readonly action: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly wait: boolean;
}

/** Starts an action on a backup, which is found first, and waits for its end if `wait` is set. */
async function act(
  context: Context,
  backup: string,
  toAction: (target: Target) => Promise<BackupAction>,
): Promise<void> {
  const server = await context.server();
  const rpc = await server.signIn();
  const archive = await findArchive(rpc, backup);
  const { action, params, wait } = await toAction({ rpc, archive });
  const path = `backup-archives/${encodeURIComponent(archive.id)}/actions/${action}`;
  await runAction(context, server, { path, params, wait });
}
