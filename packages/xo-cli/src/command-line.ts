import { Command, CommanderError } from "commander";
import type { Run, Work } from "./command.js";
import { callCommand } from "./commands/call.js";
import { completionCommand } from "./commands/completion.js";
import { getCommand } from "./commands/get.js";
import { listCommand } from "./commands/list.js";
import { methodsCommand } from "./commands/methods.js";
import { registerCommand } from "./commands/register.js";
import { restCommand } from "./commands/rest.js";
import { serversCommand, unregisterCommand } from "./commands/servers.js";
import { version, versionCommand } from "./commands/version.js";
import { watchCommand } from "./commands/watch.js";
import { whoamiCommand } from "./commands/whoami.js";
import type { GlobalOptions } from "./context.js";

/** What the command line asks for. */
export type Invocation =
  | {
      readonly kind: "work";
      readonly options: GlobalOptions;
      readonly work: Work;
    }
  /** There is nothing to do but to say this: help, version, or what is wrong. */
  | { readonly kind: "say"; readonly text: string; readonly isWrong: boolean };

const AFTER_HELP = `
The server is --server, $XO_SERVER, or the one registered last. $XO_TOKEN is a
token to use instead of a registered one, $NO_COLOR takes the colours away.

Ends with 0 when done, 1 when the server said no, 2 when the command line is
wrong, 3 when nobody has signed in, 4 when the server cannot be reached, 5 when a
file cannot be read or written, 70 on an error nobody foresaw, 130 on Ctrl-C.`;

/** @param args without node and the program */
export function parseCommandLine(args: readonly string[]): Invocation {
  let said = "";
  let invocation: Invocation | undefined;
  const program = createProgram((command, work) => {
    invocation = { kind: "work", options: command.optsWithGlobals(), work };
  });
  for (const command of withSubcommands(program))
    command.exitOverride().configureOutput({
      writeOut: (text) => (said += text),
      writeErr: (text) => (said += text),
    });
  try {
    program.parse(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: "say", text: said, isWrong: error.exitCode !== 0 };
  }
  return invocation ?? { kind: "say", text: said, isWrong: true };
}

export function createProgram(run: Run): Command {
  const program = new Command("xo-cli")
    .description("Xen Orchestra from the command line.")
    .version(version)
    .option("--server <url>", "another server than the default")
    .option("--json", "for programs: JSON on stdout, errors as JSON on stderr")
    .option("--no-color", "no colours")
    .option("--fingerprint <sha256>", "take this certificate and no other")
    .option("--allow-unauthorized", "take any certificate")
    .addHelpText("after", AFTER_HELP);
  const commands = [
    ...[registerCommand, unregisterCommand, serversCommand, whoamiCommand],
    ...[listCommand, getCommand, watchCommand],
    ...[callCommand, methodsCommand, restCommand],
    ...[versionCommand, completionCommand],
  ];
  for (const toCommand of commands) program.addCommand(toCommand(run));
  return program;
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}
