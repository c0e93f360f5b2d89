import pico from "picocolors";
import { OutputClosed } from "../cli-error.js";
import type { Host, Output } from "../host.js";

interface OutputStyle {
  readonly json: boolean;
  readonly color: boolean;
}

/** Output: results on stdout, everything else on stderr. */
export class Terminal {
  readonly json: boolean;
  readonly colors: ReturnType<typeof pico.createColors>;
  readonly #host: Host;

  constructor(host: Host, { json, color }: OutputStyle) {
    this.#host = host;
    this.json = json;
    const isEnabled = color && (host.env["NO_COLOR"] ?? "") === "";
    this.colors = pico.createColors(
      isEnabled && host.stdout.isTTY === true && host.env["TERM"] !== "dumb",
    );
  }

  /** Characters per line; undefined: not a terminal. */
  get columns(): number | undefined {
    const { isTTY, columns } = this.#host.stdout;
    return isTTY === true ? (columns ?? 80) : undefined;
  }

  get isInteractive(): boolean {
    return this.#host.stdout.isTTY === true;
  }

  /** Whether stderr can show a progress bar. */
  get canRedraw(): boolean {
    return !this.json && this.#host.stderr.isTTY === true;
  }

  /** Resolves when the chunk has been written. */
  write(chunk: string | Uint8Array): Promise<void> {
    return writeTo(this.#host.stdout, chunk);
  }

  line(text: string): Promise<void> {
    return this.write(`${text}\n`);
  }

  jsonLine(value: unknown): Promise<void> {
    return this.line(JSON.stringify(value ?? null));
  }

  /** A message on stderr; none in machine-readable output. */
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

/** A closed pipe, such as of `head`, is a normal end and no error. */
export function toOutputError(error: NodeJS.ErrnoException): Error {
  return ["EPIPE", "ERR_STREAM_DESTROYED"].includes(error.code ?? "")
    ? new OutputClosed()
    : error;
}
