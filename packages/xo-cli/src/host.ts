import type { Readable, Writable } from "node:stream";

/** The used members of `tty.ReadStream` and `tty.WriteStream`; streams of pipes lack some. */
type Input = Readable & {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
};
export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
};

/** The environment of the program. */
export interface Host {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by a signal; the reason is the name of the signal. */
  readonly interrupted: AbortSignal;
  /** Default: `setTimeout`. */
  readonly delay?: (ms: number) => Promise<void>;
}

/** An environment variable; undefined also if it is empty, as scripts unset a variable by `NAME=`. */
export function variable(
  { env }: Pick<Host, "env">,
  name: string,
): string | undefined {
  const value = env[name];
  return value === "" ? undefined : value;
}
