/** What the process answers to who started it. README.md explains them; programs rely on them. */
export const ExitCode = {
  /** Done; also when whoever reads the output has had enough of it. */
  ok: 0,
  /** The server said no, or the task failed. */
  refused: 1,
  /** The command line is wrong. */
  usage: 2,
  /** Nobody has signed in, or the token is not valid any more. */
  signedOut: 3,
  /** The server cannot be reached, is not trusted, or went away. */
  unreachable: 4,
  /** A file here cannot be read or written. */
  file: 5,
  /** Anything nobody foresaw. */
  internal: 70,
  /** Ctrl-C: 128 + the signal's number. */
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
