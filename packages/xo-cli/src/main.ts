import { OutputClosed, interruptedBy } from "./cli-error.js";
import { parseCommandLine } from "./command-line.js";
import type { CommandAction } from "./command.js";
import { Context } from "./context.js";
import { ExitCode } from "./exit-code.js";
import type { Host } from "./host.js";
import { toPlainLines } from "./output/plain-text.js";
import { toOutputError } from "./output/terminal.js";
import { toReport } from "./report.js";

/** Runs the program. @param args without node and script @returns the exit code */
export async function main(
  args: readonly string[],
  host: Host,
): Promise<ExitCode> {
  const invocation = parseCommandLine(args);
  if (invocation.kind === "print") {
    const { text, isError } = invocation;
    (isError ? host.stderr : host.stdout).write(text);
    return isError ? ExitCode.usage : ExitCode.ok;
  }
  const context = new Context(host, invocation.options);
  try {
    await untilStopped(context, invocation.work);
    return ExitCode.ok;
  } catch (error) {
    return await reportError(context, error);
  } finally {
    context.close();
  }
}

/** Ends early on a signal, and when the reader of the output closes the pipe. */
async function untilStopped(
  context: Context,
  work: CommandAction,
): Promise<void> {
  const { interrupted, stdout } = context.host;
  let stop: (error: Error) => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => (stop = reject));
  const onInterrupt = (): void => {
    stop(interruptedBy(interrupted.reason));
  };
  const onOutputError = (error: NodeJS.ErrnoException): void => {
    stop(toOutputError(error));
  };
  interrupted.addEventListener("abort", onInterrupt);
  stdout.on("error", onOutputError);
  try {
    if (interrupted.aborted) onInterrupt();
    await Promise.race([stopped, work(context)]);
  } finally {
    interrupted.removeEventListener("abort", onInterrupt);
    stdout.off("error", onOutputError);
    // Pending writes may fail with a closed pipe.
    stdout.on("error", () => undefined);
  }
}

async function reportError(
  context: Context,
  error: unknown,
): Promise<ExitCode> {
  if (error instanceof OutputClosed) return ExitCode.ok;
  const { terminal } = context;
  const report = toReport(error, context.isSignedIn);
  const { exitCode, code, message, hint, data } = report;
  if (terminal.json)
    await terminal.error(
      JSON.stringify({ error: { code, message, hint, data }, exitCode }),
    );
  else if (code === "INTERRUPTED") await terminal.error("interrupted");
  else {
    await terminal.error(toPlainLines(`error: ${message} (${code})`));
    if (hint !== undefined) await terminal.error(toPlainLines(`hint: ${hint}`));
  }
  return exitCode;
}
