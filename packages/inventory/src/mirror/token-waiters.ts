import { isOlderToken } from "@xo-server/xen-api";

interface Waiter {
  readonly token: string;
  readonly resolve: () => void;
}

/** Who waits until changes up to a token have been taken. */
export class TokenWaiters {
  #waiting: Waiter[] = [];

  /** Resolves when `reached` has been told of this token or a later one. */
  wait(token: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ token, resolve });
    });
  }

  reached(token: string): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((one) => isOlderToken(token, one.token));
    for (const one of waiting)
      if (!isOlderToken(token, one.token)) one.resolve();
  }

  /** There will be no more. */
  end(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }
}
