import { XoError, type ErrorCode } from "@xo-server/model";

/** Exit codes of the process, with the numbers of sysexits.h where it defines one. */
export const ExitCode = {
  /** Success: stopped by SIGTERM or SIGINT, --help, --version. */
  ok: 0,
  /** The command failed, or the audit log is not intact. */
  failed: 1,
  /** xo-server doctor found warnings, but no errors. */
  warnings: 2,
  /** Usage error. */
  usage: 64,
  /** The database is missing, or has lost its last writes. */
  noInput: 66,
  /** Port in use, database unavailable, or the pools of the demo failed to start. */
  unavailable: 69,
  /** Unexpected error. */
  internal: 70,
  /** The event loop was blocked; see the watchdog. EX_TEMPFAIL: a supervisor should restart the process. */
  blocked: 75,
  /** Invalid config. */
  config: 78,
  /** The server did not stop in time. */
  stopTimeout: 124,
  /** Ended immediately by a second signal: 128 + signal number. */
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

const codeOf: ReadonlyMap<ErrorCode, ExitCode> = new Map([
  ["CONFIG_INVALID", ExitCode.config],
  ["STORE_MISSING", ExitCode.noInput],
  ["STORE_OUTDATED", ExitCode.noInput],
  ["STORE_KEY_WRONG", ExitCode.config],
  ["STORE_TOO_NEW", ExitCode.config],
  // A supervisor can start the process again successfully once the other server has stopped.
  ["STORE_IN_USE", ExitCode.unavailable],
  ["PORT_IN_USE", ExitCode.unavailable],
  ["STORE_UNAVAILABLE", ExitCode.unavailable],
  ["UNSUPPORTED", ExitCode.unavailable],
]);

/** @returns undefined: an error without an exit code of its own */
export function exitCodeOf(error: unknown): ExitCode | undefined {
  return error instanceof XoError ? codeOf.get(error.code) : undefined;
}
