import { createInterface } from "node:readline";
import { readHiddenLine } from "@xo-server/kit";
import { XoError } from "@xo-server/model";

/** Asks a question on the terminal and reads a line. */
export async function promptLine(question: string): Promise<string> {
  const { stdin, stderr } = process;
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return await new Promise((resolve) => {
      lines.question(`${question}: `, resolve);
      // Emitted on Ctrl-C and Ctrl-D.
      lines.once("close", () => resolve(""));
    });
  } finally {
    lines.close();
  }
}

/** @throws XoError ABORTED: Ctrl-C was typed */
type PromptSecret = (question: string) => Promise<string>;

/**
 * Creates a prompt for secrets, without echo. Without a terminal each call reads
 * one line of the standard input.
 */
export function createSecretPrompt(): PromptSecret {
  let lines: AsyncIterator<string> | undefined;
  return async (question) => {
    const { stdin, stderr } = process;
    if (!stdin.isTTY) {
      lines ??= createInterface({ input: stdin })[Symbol.asyncIterator]();
      const next = await lines.next();
      return next.done === true ? "" : next.value;
    }
    stderr.write(`${question}: `);
    const typed = await readHiddenLine(stdin);
    stderr.write("\n");
    if (typed === undefined)
      throw new XoError("ABORTED", { what: "the command" });
    return typed;
  };
}
