import type { ExitCode } from "./exit-code.js";
import { main } from "./main.js";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Runs the program in this process. A second signal ends it immediately. */
export async function runProgram({
  argv,
  stdin,
  stdout,
  stderr,
  env,
}: NodeJS.Process): Promise<ExitCode> {
  const interrupted = new AbortController();
  for (const signal of SIGNALS)
    process.once(signal, () => {
      interrupted.abort(signal);
    });
  return main(argv.slice(2), {
    stdin,
    stdout,
    stderr,
    env,
    interrupted: interrupted.signal,
  });
}
