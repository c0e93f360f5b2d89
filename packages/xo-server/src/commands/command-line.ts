import { Command, CommanderError, InvalidArgumentError } from "commander";
import { DEFAULT_DEMO } from "../pools/demo.js";
import { ExitCode } from "../lifecycle/exit-code.js";
import type { ConfigOverrides } from "../config/load-config.js";
import { doctorCommand, type DoctorCommand } from "./doctor-command.js";
import { storeCommands } from "./store-command-line.js";
import type { StoreCommand } from "./store-command-types.js";

/** A parsed command line. */
export type ParsedCommandLine =
  | {
      readonly kind: "start";
      readonly configPath: string | undefined;
      /** Profiles of the simulated pools; undefined: the server is not a demo. */
      readonly demo: readonly string[] | undefined;
      /** Continue with an empty database in place of a missing one. */
      readonly isNewStore: boolean;
      readonly overrides: ConfigOverrides;
    }
  | { readonly kind: "example-config" }
  | ({ readonly kind: "doctor" } & DoctorCommand)
  | {
      readonly kind: "store";
      readonly configPath: string | undefined;
      readonly dataDir: string | undefined;
      readonly command: StoreCommand;
    }
  /** Print a text and exit: help, version or a usage error. */
  | { readonly kind: "print"; readonly text: string; readonly code: ExitCode };

interface StartOptions {
  readonly config?: string;
  readonly demo?: true | readonly string[];
  readonly data?: string;
  readonly newStore?: true;
  readonly host?: string;
  readonly port?: number;
  readonly logFormat?: string;
  readonly logLevel?: string;
}

const AFTER_HELP = `
Config file without --config: the first existing of $XO_CONFIG, ./config.yaml,
~/.config/xo-server/config.yaml and /etc/xo-server/config.yaml. Optional.

Exit codes: 0 stopped by SIGTERM or Ctrl-C, 64 usage error, 66 the
database of an earlier start is missing, 69 unavailable (port in use, database
unreachable, no demo), 70 internal error, 78 invalid config, 124 the
server did not stop within 5 s.`;

/** @param args arguments without `node` and the program */
export function parseCommandLine(
  args: readonly string[],
  version: string,
): ParsedCommandLine {
  let output = "";
  let invocation: ParsedCommandLine | undefined;
  const program = new Command("xo-server")
    .description("One server for any number of XenServer and XCP-ng pools.")
    .version(version);
  listen(program);
  for (const command of [
    startCommand(),
    exampleCommand(),
    doctorCommand((command) => {
      invocation = { kind: "doctor", ...command };
    }),
    ...storeCommands((command, { config, data }) => {
      invocation = {
        kind: "store",
        configPath: config,
        dataDir: data,
        command,
      };
    }),
  ]) {
    for (const verb of [command, ...command.commands]) listen(verb);
    program.addCommand(command);
  }
  try {
    program.parse(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const code = error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    return { kind: "print", text: output, code };
  }
  return invocation ?? { kind: "print", text: output, code: ExitCode.usage };

  function listen(command: Command): void {
    command.exitOverride().configureOutput({
      writeOut: (text) => (output += text),
      writeErr: (text) => (output += text),
    });
  }

  function startCommand(): Command {
    return new Command("start")
      .description("start the server; runs until SIGTERM or Ctrl-C")
      .option("--config <file>", "config file (YAML)")
      .option(
        "--demo [profiles]",
        "simulated pools instead of those of the config (default: A,B,C)",
        toProfiles,
      )
      .option(
        "--data <dir>",
        "directory of the server's own files; with --demo, the demo's database is kept there (demo.db)",
      )
      .option(
        "--new-store",
        "continue with an empty database if that of an earlier start is missing",
      )
      .option("--host <address>", "address to listen on")
      .option("--port <number>", "port to listen on", toPort)
      .option("--log-format <format>", "console, json or journal")
      .option("--log-level <level>", "debug, info, warn, error or silent")
      .addHelpText("after", AFTER_HELP)
      .action((options: StartOptions) => {
        invocation = toStart(options);
      });
  }

  function exampleCommand(): Command {
    return new Command("example-config")
      .description("print a config with every key, its default and a comment")
      .action(() => {
        invocation = { kind: "example-config" };
      });
  }
}

function toStart(options: StartOptions): ParsedCommandLine {
  return {
    kind: "start",
    configPath: options.config,
    demo: options.demo === true ? DEFAULT_DEMO : options.demo,
    isNewStore: options.newStore === true,
    overrides: {
      host: options.host,
      port: options.port,
      dataDir: options.data,
      logFormat: options.logFormat,
      logLevel: options.logLevel,
    },
  };
}

function toProfiles(text: string): string[] {
  const profiles = text.split(",").map((name) => name.trim().toUpperCase());
  if (profiles.every((name) => /^[A-Z][A-Z0-9-]*$/.test(name))) return profiles;
  throw new InvalidArgumentError("Must be a list such as A,B,C.");
}

function toPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text);
  throw new InvalidArgumentError("Must be a number from 0 to 65535.");
}
