import { text } from "node:stream/consumers";
import { XoError } from "@xo-server/model";
import { HeapGrowth } from "@xo-server/perf";
import {
  parseCommandLine,
  type ParsedCommandLine,
} from "./commands/command-line.js";
import type { StartDemoPools } from "./pools/demo.js";
import { toExampleConfig } from "./config/example-config.js";
import { ExitCode, exitCodeOf } from "./lifecycle/exit-code.js";
import { loadConfig, type LoadedConfig } from "./config/load-config.js";
import { createLoggers, logFormats, type Loggers } from "./log/logger.js";
import { createServiceManager } from "./lifecycle/service-manager.js";
import { startWatchdog, type Watchdog } from "./lifecycle/watchdog.js";
import { runUntilSignal } from "./lifecycle/run-until-signal.js";
import { startServer } from "./boot/start-server.js";
import { createSecretPrompt, promptLine } from "./commands/prompt-secret.js";
import { toExitCode, toReport } from "./doctor/doctor-report.js";
import { runDoctor } from "./doctor/run-doctor.js";
import { leaveDeletedWorkingDirectory } from "./lifecycle/working-directory.js";
import { runStoreCommand } from "./commands/store-command.js";
import { version } from "./config/version.js";

/** Dependencies that the caller of main provides. */
export interface MainOptions {
  readonly startDemoPools: StartDemoPools;
}

/** Runs the program. @param args without node and script @returns the exit code */
export async function main(
  args: readonly string[],
  options: MainOptions,
): Promise<ExitCode> {
  const invocation = parseCommandLine(args, version);
  switch (invocation.kind) {
    case "print":
      return print(invocation.text, invocation.code);
    case "example-config":
      return print(toExampleConfig(), ExitCode.ok);
    case "doctor": {
      const { configPath, dataDir, checksPools, json } = invocation;
      const overrides = { dataDir };
      const findings = await runDoctor({ configPath, overrides, checksPools });
      process.stdout.write(toReport(findings, json));
      return toExitCode(findings);
    }
    case "store": {
      const result = await runStoreCommand({
        ...invocation,
        readInput: () => text(process.stdin),
        readSecret: createSecretPrompt(),
        readLine: process.stdin.isTTY ? promptLine : undefined,
        input: process.stdin,
        output: writeOutput,
      });
      if (result.isOutputUsed !== true) return print(result.text, result.code);
      process.stderr.write(result.text);
      return result.code;
    }
    case "start":
      return start(invocation, options);
  }
}

async function start(
  {
    configPath,
    overrides,
    demo,
    isNewStore,
  }: ParsedCommandLine & { kind: "start" },
  { startDemoPools }: MainOptions,
): Promise<ExitCode> {
  let loaded: LoadedConfig;
  try {
    loaded = loadConfig(configPath, overrides);
  } catch (error) {
    const { logFormat } = overrides;
    const format = logFormats.find((name) => name === logFormat) ?? "console";
    return fail(error, createLoggers({ format }));
  }
  const { config } = loaded;
  const loggers = createLoggers({
    ...config.log,
    colour: process.stdout.isTTY && process.env["NO_COLOR"] === undefined,
  });
  let watchdog: Watchdog | undefined;
  const heapGrowth = new HeapGrowth();
  const logger = loggers.named("xo:main");
  const stopCheck = leaveDeletedWorkingDirectory(logger);
  const manager = createServiceManager({ env: process.env, logger });
  try {
    const start = async (signal: AbortSignal) => {
      signal.addEventListener("abort", () => manager.stopping());
      const server = await startServer({
        ...loaded,
        demo,
        demoDataDir: overrides.dataDir,
        isNewStore,
        startDemoPools,
        prepareForPools: (threadsUp) => {
          watchdog = watch(config);
          void threadsUp.then(() => {
            heapGrowth.allow();
          });
        },
        onLoading: (isLoading) => {
          heapGrowth.setLoading(isLoading);
        },
        loggers,
        signal,
        // Like `kill -9`: other servers continue its work.
        abandon: (reason) => process.exit(fail(reason, loggers)),
      });
      manager.ready(`listening on ${server.url}`);
      return server;
    };
    return await runUntilSignal(logger, start, config.http.drainMs);
  } catch (error) {
    return fail(error, loggers);
  } finally {
    stopCheck();
    loggers.flush();
    await watchdog?.stop();
  }
}

/** @returns undefined: the watchdog is disabled */
function watch({ perf, log }: LoadedConfig["config"]): Watchdog | undefined {
  const { watchdogMs: timeoutMs } = perf;
  return timeoutMs === 0 ? undefined : startWatchdog({ timeoutMs, log });
}

/** Logs why the server failed to start, one line per problem. */
function fail(error: unknown, loggers: Loggers): ExitCode {
  const logger = loggers.named("xo:main");
  try {
    if (!(error instanceof XoError)) {
      logger.error("failed to start", { error });
      return ExitCode.internal;
    }
    const problems = (error.data["problems"] as string[] | undefined) ?? [
      error.message,
    ];
    for (const problem of problems) logger.error(problem, { code: error.code });
    return exitCodeOf(error) ?? ExitCode.internal;
  } finally {
    loggers.flush();
  }
}

function print(text: string, code: ExitCode): ExitCode {
  (code === ExitCode.ok ? process.stdout : process.stderr).write(text);
  return code;
}

/** Resolves when the reader has received the bytes, which may be slow. */
function writeOutput(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
  });
}
