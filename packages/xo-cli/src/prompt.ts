import { createInterface } from "node:readline";
import { readHiddenLine } from "@xo-server/kit";
import { interruptedBy, usageError } from "./cli-error.js";
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
