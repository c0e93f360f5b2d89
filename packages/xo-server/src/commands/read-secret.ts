import { createInterface } from "node:readline";
import { XoError } from "@xo-server/model";
import type { ReadStream } from "node:tty";

/** Lines of a pipe, which is read once. */
let lines: AsyncIterator<string> | undefined;

/**
 * What is typed does not appear. Without a terminal each question takes a line of the input.
 * @throws XoError ABORTED when Ctrl-C is typed
 */
export async function readSecret(question: string): Promise<string> {
  const input = process.stdin as ReadStream;
  if (!input.isTTY) {
    lines ??= createInterface({ input })[Symbol.asyncIterator]();
    const next = await lines.next();
    return next.done === true ? "" : next.value;
  }
  process.stderr.write(`${question}: `);
  input.setRawMode(true);
  try {
    return await readKeys(input);
  } finally {
    input.setRawMode(false);
    input.pause();
    process.stderr.write("\n");
  }
}

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

function readKeys(input: ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    const onData = (chunk: Buffer): void => {
      for (const key of chunk.toString())
        if (key === CTRL_C)
          end(() => reject(new XoError("ABORTED", { what: "the command" })));
        else if (/[\r\n]/.test(key) || key === CTRL_D)
          end(() => resolve(typed.join("")));
        else if (/[\b\u007f]/.test(key)) typed = typed.slice(0, -1);
        else typed.push(key);
    };
    const end = (settle: () => void): void => {
      input.off("data", onData);
      settle();
    };
    input.on("data", onData).resume();
  });
}
