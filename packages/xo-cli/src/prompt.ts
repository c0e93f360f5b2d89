import { createInterface } from "node:readline";
import { interruptedBy, usageError } from "./cli-error.js";
import type { Host } from "./host.js";

const ENTER = /[\r\n]/;
const BACKSPACE = /[\b\u007f]/;
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/** Asks on stderr, so that results stay alone on stdout. @throws CliError where there is nobody to ask */
export async function ask(host: Host, question: string): Promise<string> {
  if (host.stdin.isTTY !== true)
    throw usageError(
      `${question}? There is no terminal to ask on`,
      "give it as an argument",
    );
  host.stderr.write(`${question}: `);
  return firstLine(host);
}

/** What is typed does not appear. Without a terminal it is the first line of stdin. */
export async function askSecret(host: Host, question: string): Promise<string> {
  const { stdin, stderr } = host;
  if (stdin.isTTY !== true) return firstLine(host);
  stderr.write(`${question}: `);
  stdin.setRawMode?.(true);
  try {
    return await readSecret(host);
  } finally {
    stdin.setRawMode?.(false);
    stdin.pause();
    stderr.write("\n");
  }
}

async function firstLine({ stdin }: Host): Promise<string> {
  const lines = createInterface({ input: stdin, crlfDelay: Infinity });
  try {
    for await (const line of lines) return line;
    return "";
  } finally {
    lines.close();
  }
}

function readSecret({ stdin }: Host): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    const stop = (): void => {
      stdin.off("data", onData);
    };
    const onData = (chunk: Buffer | string): void => {
      for (const key of chunk.toString()) {
        if (key === CTRL_C) {
          stop();
          reject(interruptedBy("SIGINT"));
          return;
        }
        if (ENTER.test(key) || key === CTRL_D) {
          stop();
          resolve(typed.join(""));
          return;
        }
        if (BACKSPACE.test(key)) typed = typed.slice(0, -1);
        else typed.push(key);
      }
    };
    stdin.on("data", onData);
    stdin.resume();
  });
}
