/** What the process answers to who started it. The numbers are those of sysexits.h where it has one. */
export const ExitCode = {
  /** Ended as asked: SIGTERM, SIGINT, --help, --version. */
  ok: 0,
  /** What was asked cannot be done, or the audit log is broken; why is said. */
  failed: 1,
  /** The command line is wrong. */
  usage: 64,
  /** The port is taken, or the demo's pools could not be started. */
  unavailable: 69,
  /** Anything nobody foresaw. */
  internal: 70,
  /** The config is wrong. */
  config: 78,
  /** Asked to end, but not done within the limit. */
  stopTimeout: 124,
  /** Ended at once by a second signal: 128 + the signal's number. */
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
