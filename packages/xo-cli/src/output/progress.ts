import type { Terminal } from "./terminal.js";
import { toPlainText } from "./plain-text.js";

const WIDTH = 24;
const CLEAR_LINE = "\r\u001b[2K";

/** A progress bar on stderr if it is a terminal. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #label: string;
  #last = "";

  constructor(terminal: Terminal, label: string) {
    this.#terminal = terminal;
    this.#label = toPlainText(label);
  }

  /** @param percent undefined: unknown */
  async show(percent: number | undefined, detail = ""): Promise<void> {
    if (!this.#terminal.canRedraw) return;
    const text = `${bar(percent)} ${this.#label} ${detail}`.trimEnd();
    if (text === this.#last) return;
    this.#last = text;
    await this.#terminal.draw(CLEAR_LINE + text);
  }

  async clear(): Promise<void> {
    if (this.#last === "") return;
    this.#last = "";
    await this.#terminal.draw(CLEAR_LINE);
  }
}

function bar(percent: number | undefined): string {
  if (percent === undefined) return `[${"·".repeat(WIDTH)}]     `;
  const bounded = Math.min(100, Math.max(0, percent));
  const done = Math.round((bounded / 100) * WIDTH);
  const figure = `${Math.round(bounded)}%`.padStart(4);
  return `[${"█".repeat(done)}${"·".repeat(WIDTH - done)}] ${figure}`;
}
