import { isOlderToken } from "@xo-server/xen-api";

interface Waiter {
  readonly token: string;
  readonly resolve: () => void;
}

/** Callers that wait until the changes up to an event token have been applied. */
export class TokenWaiters {
  #waiting: Waiter[] = [];

  /** Resolves when `advanceTo` is called with this token or a later one. */
  wait(token: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ token, resolve });
    });
  }

  /** Changes up to this token have been applied. */
  advanceTo(token: string): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((one) => isOlderToken(token, one.token));
    for (const one of waiting)
      if (!isOlderToken(token, one.token)) one.resolve();
  }

  /** Resolves all callers: the mirror stops. */
  resolveAll(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }
}
