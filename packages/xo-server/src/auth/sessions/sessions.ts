import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Client } from "./client.js";
import type { Session } from "./session.js";

/** Idle connections of expired tokens are closed within this time. */
const CHECK_MS = 60_000;

const SESSION_EXPIRED = "session expired";

interface SessionsOptions {
  readonly store: Pick<Store, "onChange">;
  readonly clock: WallClock;
}

/** Signed-in connections; they are closed or updated when users, tokens or rights change. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #clients = new Set<Client>();
  /** Connections that may only set up the second factor. */
  readonly #setUpOnly = new Set<Client>();
  readonly #rightsListeners: ((client: Client) => void)[] = [];
  readonly #stopListening: () => void;
  #timer: unknown;
  #isCheckQueued = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#stopListening = options.store.onChange(() => {
      this.#checkSoon();
    });
    this.#scheduleCheck();
  }

  get size(): number {
    return this.#clients.size;
  }

  /** The listener is called when the user of a client, or the rights of that user, have changed. */
  onRights(listener: (client: Client) => void): void {
    this.#rightsListeners.push(listener);
  }

  begin(client: Client, session: Session): void {
    client.setSession(session);
    this.#clients.add(client);
    if (session.user()?.isSetUpOnly === true) this.#setUpOnly.add(client);
    this.#notifyRights(client);
  }

  /** Signs out; the connection stays open. */
  end(client: Client): void {
    client.setSession(undefined);
    this.remove(client);
    this.#notifyRights(client);
  }

  /** Closes the connections of a user, after a password change. @param except the connection that changed it */
  closeSessionsOf(userId: string, except: Client): void {
    for (const client of this.#clients)
      if (client !== except && client.session?.userId === userId)
        this.#close(client);
  }

  /** Call when the connection has closed. */
  remove(client: Client): void {
    this.#clients.delete(client);
    this.#setUpOnly.delete(client);
  }

  stop(): void {
    this.#stopListening();
    this.#options.clock.clearTimeout(this.#timer);
  }

  /** One transaction may change several tables; they share one check. */
  #checkSoon(): void {
    if (this.#isCheckQueued) return;
    this.#isCheckQueued = true;
    queueMicrotask(() => {
      this.#isCheckQueued = false;
      this.#check();
    });
  }

  #check(): void {
    for (const client of this.#clients)
      if (this.#hasEnded(client)) this.#close(client);
      else this.#notifyRights(client);
  }

  /** A session that loses its rights for lack of a second factor ends: the client signs in again to set it up. */
  #hasEnded(client: Client): boolean {
    const user = client.session?.user();
    if (user === undefined) return true;
    if (user.isSetUpOnly === true) return !this.#setUpOnly.has(client);
    this.#setUpOnly.delete(client);
    return false;
  }

  #notifyRights(client: Client): void {
    for (const listener of this.#rightsListeners) listener(client);
  }

  #scheduleCheck(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      for (const client of this.#clients)
        if (this.#hasEnded(client)) this.#close(client);
      this.#scheduleCheck();
    }, CHECK_MS);
  }

  #close(client: Client): void {
    // A call that ends its own session (a restore of the configuration) still gets its result.
    client.close(SESSION_EXPIRED, { answersFirst: true });
    this.remove(client);
    // The session stays assigned: later messages must not be treated as anonymous.
  }
}
