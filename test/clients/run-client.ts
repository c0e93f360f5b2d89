import { spawn } from "node:child_process";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a client is run. */
export interface ClientOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Runs a client to its end, with nothing of this machine's settings. */
export function runClient(
  program: string,
  args: readonly string[],
  { env = {}, cwd }: ClientOptions,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { PATH: process.env["PATH"], HOME: cwd, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => (stdout += String(chunk)));
    child.stderr.on("data", (chunk) => (stderr += String(chunk)));
    const kill = () => child.kill("SIGKILL");
    process.once("exit", kill);
    child.on("error", reject);
    child.on("close", (code) => {
      process.off("exit", kill);
      resolve({ code, stdout, stderr });
    });
  });
}
