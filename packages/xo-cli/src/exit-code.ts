/** Exit codes, a stable interface: see README.md. */
export const ExitCode = {
  /** Success; also when the reader of the output closes the pipe. */
  ok: 0,
  /** The request or its task failed. */
  refused: 1,
  /** Usage error. */
  usage: 2,
  /** Authentication required, or invalid credentials. */
  signedOut: 3,
  /** Server unreachable, not trusted, or connection lost. */
  unreachable: 4,
  /** A local file cannot be read or written. */
  file: 5,
  /** Unexpected error. */
  internal: 70,
  /** Ctrl-C: 128 + signal number. */
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
