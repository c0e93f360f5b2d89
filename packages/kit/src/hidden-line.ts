/** The part of a terminal's input stream that is needed here. */
export interface TerminalInput {
  on(event: "data", listener: (chunk: Buffer | string) => void): unknown;
  off(event: "data", listener: (chunk: Buffer | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
  setRawMode?(mode: boolean): unknown;
}

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const ENTER = /[\r\n]/;
const BACKSPACE = /[\b\u007f]/;

/**
 * Reads one line from a terminal without echo, for passwords.
 * @returns undefined when Ctrl-C was typed
 */
export async function readHiddenLine(
  input: TerminalInput,
): Promise<string | undefined> {
  input.setRawMode?.(true);
  try {
    return await readKeys(input);
  } finally {
    input.setRawMode?.(false);
    input.pause();
  }
}

function readKeys(input: TerminalInput): Promise<string | undefined> {
  return new Promise((resolve) => {
    let typed: string[] = [];
    const end = (line: string | undefined): void => {
      input.off("data", onData);
      resolve(line);
    };
    const onData = (chunk: Buffer | string): void => {
      for (const key of chunk.toString()) {
        if (key === CTRL_C) return end(undefined);
        if (ENTER.test(key) || key === CTRL_D) return end(typed.join(""));
        if (BACKSPACE.test(key)) typed = typed.slice(0, -1);
        else typed.push(key);
      }
    };
    input.on("data", onData);
    input.resume();
  });
}
