/** Where a token of event.from stands: database and messages. */
type TokenNumbers = readonly [bigint, bigint];

/** Is `token` from before `than`? False where one of them cannot be read: then nothing is known. */
export function isOlderToken(token: string, than: string): boolean {
  const [a, b] = [parseToken(token), parseToken(than)];
  return a !== undefined && b !== undefined && (a[0] < b[0] || a[1] < b[1]);
}

/**
 * event.inject gives a token from just before its own change and says nothing of
 * messages (WIRE.md 8, recording 609): so much it may lie behind on a pool that
 * has not gone back in time.
 */
const INJECT_LAG = 2n;

/** Does a token of event.inject tell that the pool has gone back to before `than`? */
export function isRewoundInject(injected: string, than: string): boolean {
  const [a, b] = [parseToken(injected), parseToken(than)];
  return a !== undefined && b !== undefined && a[0] + INJECT_LAG < b[0];
}

function parseToken(token: string): TokenNumbers | undefined {
  const match = /^(\d+),(\d+)$/.exec(token);
  return match === null ? undefined : [BigInt(match[1]!), BigInt(match[2]!)];
}

const MAX_TOKENS = 64;

/**
 * Remembers in which session a token was had: one of an earlier session may
 * come from a pool that has gone back in time since.
 */
export class TokenOrigins {
  readonly #generations = new Map<string, number>();

  record(token: string, generation: number): void {
    this.#generations.delete(token);
    this.#generations.set(token, generation);
    if (this.#generations.size <= MAX_TOKENS) return;
    const [oldest] = this.#generations.keys();
    this.#generations.delete(oldest!);
  }

  /** Undefined: not a token of ours, or long ago. */
  generationOf(token: string): number | undefined {
    return this.#generations.get(token);
  }
}
