import { Command, CommanderError } from "commander";
import type { Run, CommandAction } from "./command.js";
import { backupCommand } from "./commands/backup.js";
import { callCommand } from "./commands/call.js";
import { completionCommand } from "./commands/completion.js";
import { getCommand } from "./commands/get.js";
import { listCommand } from "./commands/list.js";
import { methodsCommand } from "./commands/methods.js";
import { registerCommand } from "./commands/register.js";
import { repositoryCommand } from "./commands/repository.js";
import { restCommand } from "./commands/rest.js";
import { restoreCommand } from "./commands/restore.js";
import { serversCommand, unregisterCommand } from "./commands/servers.js";
import { version, versionCommand } from "./commands/version.js";
import { watchCommand } from "./commands/watch.js";
import { whoamiCommand } from "./commands/whoami.js";
import type { GlobalOptions } from "./context.js";

/** A parsed command line. */
type Invocation =
  | {
      readonly kind: "run";
      readonly options: GlobalOptions;
      readonly work: CommandAction;
    }
  /** Print a text and exit: help, version or a usage error. */
  | {
      readonly kind: "print";
      readonly text: string;
      readonly isError: boolean;
    };

const AFTER_HELP = `
The server is --server, $XO_SERVER, or the default one (see xo-cli servers).
$XO_TOKEN overrides the registered token, $NO_COLOR disables colors.

Exit codes: 0 success, 1 request failed, 2 usage error, 3 authentication
required, 4 server unreachable, 5 file error, 70 internal error, 130 Ctrl-C.`;

/** @param args without node and the program */
export function parseCommandLine(args: readonly string[]): Invocation {
  let output = "";
  let invocation: Invocation | undefined;
  const program = createProgram((command, work) => {
    invocation = { kind: "run", options: command.optsWithGlobals(), work };
  });
  for (const command of withSubcommands(program))
    command.exitOverride().configureOutput({
      writeOut: (text) => (output += text),
      writeErr: (text) => (output += text),
    });
  try {
    program.parse(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const method = args.find((word) => !word.startsWith("-")) ?? "";
    if (error.code === "commander.unknownCommand" && method.includes("."))
      output += `hint: methods are called by xo-cli call ${method}\n`;
    return { kind: "print", text: output, isError: error.exitCode !== 0 };
  }
  return invocation ?? { kind: "print", text: output, isError: true };
}

/** All commands with their options. @param run executes a command and reports its error */
function createProgram(run: Run): Command {
  const program = new Command("xo-cli")
    .description("Command-line client of xo-server and Xen Orchestra.")
    .version(version)
    .option("--server <url>", "server to use instead of the default one")
    .option(
      "--json",
      "machine-readable output: JSON on stdout, errors as JSON on stderr",
    )
    .option("--no-color", "disable colors")
    .option(
      "--fingerprint <sha256>",
      "accept only the certificate with this fingerprint",
    )
    .option("--allow-unauthorized", "accept any certificate (insecure)")
    .addHelpText("after", AFTER_HELP);
  const commands = [
    registerCommand,
    unregisterCommand,
    serversCommand,
    whoamiCommand,
    listCommand,
    getCommand,
    watchCommand,
    callCommand,
    methodsCommand,
    restCommand,
    backupCommand,
    restoreCommand,
    repositoryCommand,
    versionCommand,
    completionCommand,
  ];
  for (const toCommand of commands) program.addCommand(toCommand(run));
  return program;
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}
