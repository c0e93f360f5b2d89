import type { ExitCode } from "./exit-code.js";

/** An error of the client side. */
export class CliError extends Error {
  /** Stable code for scripts: `USAGE`, `NOT_SIGNED_IN`, ... */
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

/** An error response of the server. */
export class RequestError extends Error {
  /** Error code of xo-server; with other servers derived from the code of JSON-RPC or HTTP. */
  readonly code: string;
  readonly data: unknown;
  /** Replaces the usual hint of the code. */
  readonly hint: string | undefined;

  constructor(message: string, code: string, data?: unknown, hint?: string) {
    super(message);
    this.name = "RequestError";
    this.hint = hint;
    this.code = code;
    this.data = data;
  }
}

/** The reader of the output has closed the pipe. */
export class OutputClosed extends Error {}

/** Wrong use of the command line: exit code 2. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError(message, {
    code: "USAGE",
    exitCode: 2,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** A file that cannot be read or written, with the system's reason. */
export function fileError(path: string, error: unknown): CliError {
  const { code, message } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOENT: "no such file or directory",
    EACCES: "permission denied",
    EISDIR: "is a directory",
    EEXIST: "file already exists",
    ENOSPC: "no space left on device",
  };
  const reason = reasons[code ?? ""] ?? message;
  return new CliError(`${path}: ${reason}`, { code: "FILE", exitCode: 5 });
}

/** No usable token for the server: exit code 3. @param hint the command that signs in */
export function signedOut(message: string, hint: string): CliError {
  return new CliError(message, { code: "NOT_SIGNED_IN", exitCode: 3, hint });
}

/** Ended by a signal: exit code 128 + its number, as shells report it. */
export function interruptedBy(signal: unknown): CliError {
  return new CliError("interrupted", {
    code: "INTERRUPTED",
    exitCode: signal === "SIGTERM" ? 143 : 130,
  });
}
