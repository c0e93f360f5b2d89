/** A token of event.from is `<database generation>,<message generation>`. */
type TokenNumbers = readonly [bigint, bigint];

/** Is `token` older than `than`? False if either cannot be parsed. */
export function isOlderToken(token: string, than: string): boolean {
  const [a, b] = [parseToken(token), parseToken(than)];
  return a !== undefined && b !== undefined && (a[0] < b[0] || a[1] < b[1]);
}

/**
 * event.inject returns a token from just before its own change, without a
 * message generation (WIRE.md 8, recording 609). So the token may be this much
 * lower on a pool whose database was not restored.
 */
const INJECT_LAG = 2n;

/** Does a token of event.inject prove that the pool database is now older than `than`? */
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
 * The session (login generation) in which each recent token was received. A
 * token of an earlier session is trusted only if the same process of XAPI issues
 * tokens now (EventPosition): otherwise the database may have been restored.
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

  /** Undefined: unknown token, or older than the last 64. */
  generationOf(token: string): number | undefined {
    return this.#generations.get(token);
  }
}
