/**
 * Replaces tap's `async-hook-domain`, which follows each promise of a test by async
 * hooks to find the test of an uncaught error: that takes about a quarter of the
 * CPU time of tests with servers. Here such an error belongs to the test that runs
 * now; see uncaught-errors.ts.
 */
export class Domain {
  /** Receives what was thrown, and how ("uncaughtException" or "unhandledRejection"). */
  readonly onerror: (error: unknown, how: string) => void;

  constructor(onerror: (error: unknown, how: string) => void) {
    this.onerror = onerror;
  }

  destroy(): void {
    // It is in no list.
  }
}
