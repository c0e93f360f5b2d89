import { spawn } from "node:child_process";

export interface RunProgramOptions {
  /** Exit codes that are not errors; default: 0. */
  readonly isAccepted?: (code: number) => boolean;
  /** Working directory; default: that of this process. */
  readonly cwd?: string;
}

/** Runs a program to its end. @returns its standard output @throws Error with its standard error */
export function runProgram(
  program: string,
  args: readonly string[],
  { isAccepted = (code) => code === 0, cwd }: RunProgramOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      cwd,
    });
    let output = "";
    let consoleErrors = "";
    child.stdout.on("data", (chunk) => (output += String(chunk)));
    child.stderr.on("data", (chunk) => (consoleErrors += String(chunk)));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== null && isAccepted(code)) resolve(output);
      else reject(new Error(`${program} ended with ${code}: ${consoleErrors}`));
    });
  });
}
