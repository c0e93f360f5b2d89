import { execFileSync } from "node:child_process";
import { ROOT } from "./test-files.js";

/** Runs git in the root of the repository. @returns the lines that it prints, without empty ones */
export function git(...args: readonly string[]): string[] {
  const output = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return output.split("\n").filter((line) => line !== "");
}
