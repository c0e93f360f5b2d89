import { text } from "node:stream/consumers";
import { XoError, type ErrorCode } from "@xo-server/model";
import { raiseHeapGrowth } from "@xo-server/perf";
import { parseCommandLine, type Invocation } from "./commands/command-line.js";
import type { StartDemoPools } from "./pools/demo.js";
import { toExampleConfig } from "./config/example-config.js";
import { ExitCode } from "./lifecycle/exit-code.js";
import { loadConfig, type LoadedConfig } from "./config/load-config.js";
import { createLoggers, type Loggers } from "./log/logger.js";
import { runUntilSignal } from "./lifecycle/run-until-signal.js";
import { startServer } from "./boot/start-server.js";
import { readSecret } from "./commands/read-secret.js";
import { runStoreCommand } from "./commands/store-command.js";
import { version } from "./config/version.js";

/** What main cannot make itself. */
export interface MainOptions {
  readonly startDemoPools: StartDemoPools;
}

/** The program: `args` in (without node and script), exit code out. */
export async function main(
  args: readonly string[],
  introductions: MainOptions,
): Promise<ExitCode> {
  const invocation = parseCommandLine(args, version);
  switch (invocation.kind) {
    case "say":
      return print(invocation.text, invocation.code);
    case "example-config":
      return print(toExampleConfig(), ExitCode.ok);
    case "store": {
      const said = await runStoreCommand({
        ...invocation,
        readInput: () => text(process.stdin),
        readSecret,
      });
      return print(said.text, said.code);
    }
    case "start":
      return start(invocation, introductions);
  }
}

async function start(
  { configPath, overrides, demo }: Invocation & { kind: "start" },
  { startDemoPools }: MainOptions,
): Promise<ExitCode> {
  raiseHeapGrowth();
  let loaded: LoadedConfig;
  try {
    loaded = loadConfig(configPath, overrides);
  } catch (error) {
    const loggers = createLoggers({
      ...(overrides.logFormat === "json" ? { format: "json" as const } : {}),
    });
    return fail(error, loggers);
  }
  const { config } = loaded;
  const loggers = createLoggers({
    ...config.log,
    colour: process.stdout.isTTY && process.env["NO_COLOR"] === undefined,
  });
  try {
    return await runUntilSignal(loggers.named("xo:main"), (signal) =>
      startServer({ ...loaded, demo, startDemoPools, loggers, signal }),
    );
  } catch (error) {
    return fail(error, loggers);
  } finally {
    loggers.flush();
  }
}

const codeOf: ReadonlyMap<ErrorCode, ExitCode> = new Map([
  ["CONFIG_INVALID", ExitCode.config],
  ["STORE_KEY_WRONG", ExitCode.config],
  ["STORE_TOO_NEW", ExitCode.config],
  ["PORT_IN_USE", ExitCode.unavailable],
  ["STORE_UNAVAILABLE", ExitCode.unavailable],
  ["UNSUPPORTED", ExitCode.unavailable],
]);

/** Says why it does not start, in one line for each problem. */
function fail(error: unknown, loggers: Loggers): ExitCode {
  const logger = loggers.named("xo:main");
  try {
    if (!(error instanceof XoError)) {
      logger.error("could not start", { error });
      return ExitCode.internal;
    }
    const problems = (error.data["problems"] as string[] | undefined) ?? [
      error.message,
    ];
    for (const problem of problems) logger.error(problem, { code: error.code });
    return codeOf.get(error.code) ?? ExitCode.internal;
  } finally {
    loggers.flush();
  }
}

function print(text: string, code: ExitCode): ExitCode {
  (code === ExitCode.ok ? process.stdout : process.stderr).write(text);
  return code;
}
