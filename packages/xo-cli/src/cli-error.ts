import type { ExitCode } from "./exit-code.js";

/** What went wrong on this side of the wire. */
export class CliError extends Error {
  /** Stable, for programs: `USAGE`, `NOT_SIGNED_IN`, ... */
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;

  constructor(
    message: string,
    kind: { code: string; exitCode: ExitCode; hint?: string },
  ) {
    super(message);
    this.name = "CliError";
    this.code = kind.code;
    this.exitCode = kind.exitCode;
    this.hint = kind.hint;
  }
}

/** What the server said no to. */
export class Refusal extends Error {
  /** Of the table of errors of our server where it tells, else by the code of JSON-RPC or HTTP. */
  readonly code: string;
  readonly data: unknown;

  constructor(message: string, code: string, data?: unknown) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.data = data;
  }
}

/** Whoever reads the output has had enough of it. */
export class OutputClosed extends Error {}

export function usageError(message: string, hint?: string): CliError {
  return new CliError(message, {
    code: "USAGE",
    exitCode: 2,
    ...(hint === undefined ? {} : { hint }),
  });
}

export function fileError(path: string, error: unknown): CliError {
  const { code, message } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOENT: "no such file or folder",
    EACCES: "not allowed",
    EISDIR: "it is a folder",
    EEXIST: "it is there already",
    ENOSPC: "the disk is full",
  };
  const reason = reasons[code ?? ""] ?? message;
  return new CliError(`${path}: ${reason}`, { code: "FILE", exitCode: 5 });
}

export function signedOut(message: string, hint: string): CliError {
  return new CliError(message, { code: "NOT_SIGNED_IN", exitCode: 3, hint });
}

export function interruptedBy(signal: unknown): CliError {
  return new CliError("interrupted", {
    code: "INTERRUPTED",
    exitCode: signal === "SIGTERM" ? 143 : 130,
  });
}
