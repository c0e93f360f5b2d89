import type { Readable, Writable } from "node:stream";

/** A terminal has more than a stream: `tty.ReadStream`, `tty.WriteStream`. */
export type Input = Readable & {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
};
export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
};

/** What surrounds the program. */
export interface Host {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by a signal, with its name as the reason. */
  readonly interrupted: AbortSignal;
  /** Default: `setTimeout`. */
  readonly delay?: (ms: number) => Promise<void>;
}
