/** How far readers of one source may be apart. */
export interface SharingLimits {
  /** Parts of at most 1 MiB that are held for readers that are behind. */
  readonly parts: number;
  /** Milliseconds that the first reader waits for one that does not proceed. */
  readonly stallMs: number;
}

export const SHARING_LIMITS: SharingLimits = { parts: 24, stallMs: 60_000 };

/** Limits one wait for other readers. */
export class StallTimer {
  readonly #stallMs: number;

  constructor({ stallMs }: SharingLimits) {
    this.#stallMs = stallMs;
  }

  /** @returns whether the time was over first */
  async race(isOver: Promise<void>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const isStalled = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => {
        resolve(true);
      }, this.#stallMs);
    });
    try {
      return await Promise.race([isOver.then(() => false), isStalled]);
    } finally {
      clearTimeout(timer);
    }
  }
}
