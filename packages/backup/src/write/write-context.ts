/** Bytes of all disks of a backup. */
export interface WriteProgress {
  /** Compared, read, or known to be zero. */
  done: number;
  total: number;
}

/** What the parts of one backup share. */
export interface WriteContext {
  readonly progress: WriteProgress;
  readonly signal: AbortSignal | undefined;
  /** Called often. */
  readonly onProgress: () => void;
  /** Resolves when this number of bytes may be read. */
  readonly waitForRate: (bytes: number) => Promise<void> | undefined;
  /** From 0 to 1, below 1. */
  readonly random: () => number;
}
