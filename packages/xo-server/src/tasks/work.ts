/**
 * Something that is being done, from inside: whoever does it tells how far it
 * is, and hears when nobody wants it any more.
 */
export interface Work {
  /** Of the task that clients know; absent: nobody follows it. */
  readonly taskId?: string;
  /** Aborted when somebody gave the task up. */
  readonly signal: AbortSignal;
  /** @param fraction 0 to 1; without it, the progress is that of the part under way */
  progress(fraction: number): void;
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
  /** A part with a progress and an end of its own. */
  part<T>(name: string, run: (part: Work) => Promise<T>): Promise<T>;
  /**
   * Written down before it resolves, in the place of what was kept before: the
   * operation's `resume` gets it when the server has died meanwhile.
   * @param state JSON without secrets
   */
  keep(state: object): Promise<void>;
}

/** What nobody follows. */
export const unwatchedWork: Work = {
  signal: new AbortController().signal,
  progress: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  part: (_name, run) => run(unwatchedWork),
  keep: () => Promise.resolve(),
};
