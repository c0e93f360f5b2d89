import { createInterface } from "node:readline";
import { readHiddenLine } from "@xo-server/kit";
import { CliError, interruptedBy, usageError } from "./cli-error.js";
import { ExitCode } from "./exit-code.js";
import type { Host } from "./host.js";

/** Prompts on stderr, because stdout is for results. @throws CliError: stdin is not a terminal */
export async function prompt(host: Host, question: string): Promise<string> {
  if (host.stdin.isTTY !== true)
    throw usageError(
      `cannot prompt for ${question.toLowerCase()}: no terminal`,
      "pass it as an argument",
    );
  host.stderr.write(`${question}: `);
  return readFirstLine(host);
}

/**
 * Continues after `yes` only.
 * @param consequence a sentence, without its period
 * @throws CliError USAGE: stdin is not a terminal; ABORTED: another answer
 */
export async function confirm(host: Host, consequence: string): Promise<void> {
  if (host.stdin.isTTY !== true)
    throw usageError(consequence, "confirm it with --yes");
  const typed = await prompt(host, `${consequence}. Type "yes" to continue`);
  if (typed.trim().toLowerCase() !== "yes")
    throw new CliError("nothing was changed", {
      code: "ABORTED",
      exitCode: ExitCode.refused,
    });
}

/** Prompts without echo. Without a terminal the answer is the first line of stdin. */
export async function promptSecret(
  host: Host,
  question: string,
): Promise<string> {
  const { stdin, stderr } = host;
  if (stdin.isTTY !== true) return readFirstLine(host);
  stderr.write(`${question}: `);
  const typed = await readHiddenLine(stdin);
  stderr.write("\n");
  if (typed === undefined) throw interruptedBy("SIGINT");
  return typed;
}

async function readFirstLine({ stdin }: Host): Promise<string> {
  const lines = createInterface({ input: stdin, crlfDelay: Infinity });
  try {
    for await (const line of lines) return line;
    return "";
  } finally {
    lines.close();
  }
}
