import { spawn } from "node:child_process";

/** Runs a program to its end. @returns what it printed @throws Error with what it complained of */
export function runProgram(
  program: string,
  args: readonly string[],
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let complaints = "";
    child.stdout.on("data", (chunk) => (output += String(chunk)));
    child.stderr.on("data", (chunk) => (complaints += String(chunk)));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${program} ended with ${code}: ${complaints}`));
    });
  });
}
