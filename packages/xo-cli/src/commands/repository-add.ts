import { Command, InvalidArgumentError } from "commander";
import { usageError } from "../cli-error.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { variable, type Host } from "../host.js";
import { toPlainLines } from "../output/plain-text.js";
import { promptSecret } from "../prompt.js";

interface AddOptions {
  readonly recoveryKey?: boolean;
  readonly parity: boolean;
  readonly verifyDays?: number;
}

const AFTER = `
A new repository needs an empty folder, and its passphrase is set; an existing one is opened by
it, or by its recovery key. Either is prompted for without echo, or the first line of stdin, or
$XO_PASSPHRASE or $XO_RECOVERY_KEY:
  xo-cli repository add nightly file:///mnt/backups
  xo-cli repository add offsite 's3://KEY:SECRET@s3.example.org/bucket/folder'`;

export function repositoryAddCommand(run: Run): Command {
  return new Command("add")
    .description("add a repository: create a new one, or open an existing one")
    .argument("<name>")
    .argument("<url>", "such as file:///mnt/backups or s3://...")
    .option("--recovery-key", "open it with its recovery key")
    .option("--no-parity", "a new one without parity files")
    .option(
      "--verify-days <days>",
      "days in which all data is read once, default: 30; 0: never",
      toDays,
    )
    .addHelpText("after", AFTER)
    .action(
      (name: string, url: string, options: AddOptions, command: Command) => {
        run(command, (context) => add(context, { name, url, ...options }));
      },
    );
}

async function add(
  context: Context,
  {
    name,
    url,
    recoveryKey,
    parity,
    verifyDays,
  }: AddOptions & { readonly name: string; readonly url: string },
): Promise<void> {
  const { host, terminal } = context;
  const server = await context.server();
  const rpc = await server.signIn();
  const secret =
    recoveryKey === true
      ? { recoveryKey: await readSecret(host, "Recovery key") }
      : { passphrase: await readSecret(host, "Passphrase") };
  const created = (await rpc.call("remote.create", {
    name,
    url,
    ...secret,
    ...(parity ? {} : { parity }),
    ...(verifyDays === undefined ? {} : { verifyDays }),
  })) as { readonly id: string; readonly recoverySheet?: string };
  if (terminal.json) {
    await terminal.jsonLine(created);
    return;
  }
  const { id, recoverySheet } = created;
  if (recoverySheet !== undefined) {
    await terminal.note(
      "Print this recovery sheet; keep it neither in the repository nor on the server:",
    );
    await terminal.line(toPlainLines(recoverySheet));
  }
  await terminal.line(id);
}

async function readSecret(host: Host, name: string): Promise<string> {
  const variableName = `XO_${name.toUpperCase().replace(" ", "_")}`;
  const secret =
    variable(host, variableName) ?? (await promptSecret(host, name));
  if (secret === "")
    throw usageError(
      `no ${name.toLowerCase()}`,
      `enter it on a terminal, set $${variableName}, or use stdin`,
    );
  return secret;
}

function toDays(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Must be a number of days.");
}
