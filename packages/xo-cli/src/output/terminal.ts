import pico from "picocolors";
import { OutputClosed } from "../cli-error.js";
import type { Host, Output } from "../host.js";

export interface Look {
  readonly json: boolean;
  readonly colour: boolean;
}

/** Where results (stdout) and everything else (stderr) go. */
export class Terminal {
  readonly json: boolean;
  readonly colours: ReturnType<typeof pico.createColors>;
  readonly #host: Host;

  constructor(host: Host, { json, colour }: Look) {
    this.#host = host;
    this.json = json;
    const wanted = colour && (host.env["NO_COLOR"] ?? "") === "";
    this.colours = pico.createColors(
      wanted && host.stdout.isTTY === true && host.env["TERM"] !== "dumb",
    );
  }

  /** Characters in a line; undefined: it is no terminal, lines are as long as they are. */
  get columns(): number | undefined {
    const { isTTY, columns } = this.#host.stdout;
    return isTTY === true ? (columns ?? 80) : undefined;
  }

  get isInteractive(): boolean {
    return this.#host.stdout.isTTY === true;
  }

  /** Whether lines on stderr may be drawn again: a progress bar. */
  get canRedraw(): boolean {
    return !this.json && this.#host.stderr.isTTY === true;
  }

  /** Resolves when there is room for more. */
  write(chunk: string | Uint8Array): Promise<void> {
    return writeTo(this.#host.stdout, chunk);
  }

  line(text: string): Promise<void> {
    return this.write(`${text}\n`);
  }

  jsonLine(value: unknown): Promise<void> {
    return this.line(JSON.stringify(value ?? null));
  }

  /** A word to the person beside the result; programs get none. */
  async note(text: string): Promise<void> {
    if (!this.json) await this.error(text);
  }

  error(text: string): Promise<void> {
    return writeTo(this.#host.stderr, `${text}\n`);
  }

  draw(text: string): Promise<void> {
    return writeTo(this.#host.stderr, text);
  }
}

function writeTo(output: Output, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(chunk, (error) => {
      if (error === null || error === undefined) resolve();
      else reject(toOutputError(error));
    });
  });
}

export function toOutputError(error: NodeJS.ErrnoException): Error {
  return ["EPIPE", "ERR_STREAM_DESTROYED"].includes(error.code ?? "")
    ? new OutputClosed()
    : error;
}
