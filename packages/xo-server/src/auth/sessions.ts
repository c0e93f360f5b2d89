import type { Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { Client } from "./client.js";
import type { Session } from "./session.js";

/** A token that has run out closes its connection within this, though nothing is said there. */
const CHECK_MS = 60_000;

const SESSION_EXPIRED = "the session is over";

export interface SessionsOptions {
  readonly store: Pick<Store, "onChange">;
  readonly clock: Clock;
}

/** The connections that somebody has signed in on. They follow what becomes of users, tokens and rights. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #clients = new Set<Client>();
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

  /** The listener is called when a client has another user, or the same user with other rights. */
  onRights(listener: (client: Client) => void): void {
    this.#rightsListeners.push(listener);
  }

  begin(client: Client, session: Session): void {
    client.setSession(session);
    this.#clients.add(client);
    this.#notifyRights(client);
  }

  /** The connection stays. */
  end(client: Client): void {
    client.setSession(undefined);
    this.#clients.delete(client);
    this.#notifyRights(client);
  }

  /** Whoever knew the old password is out. @param except who changed it */
  closeSessionsOf(userId: string, except: Client): void {
    for (const client of this.#clients)
      if (client !== except && client.session?.userId === userId)
        this.#close(client);
  }

  /** The connection has gone. */
  remove(client: Client): void {
    this.#clients.delete(client);
  }

  stop(): void {
    this.#stopListening();
    this.#options.clock.clearTimeout(this.#timer);
  }

  /** One transaction changes several tables: one look is enough for all. */
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
      if (client.session?.user() === undefined) this.#close(client);
      else this.#notifyRights(client);
  }

  #notifyRights(client: Client): void {
    for (const listener of this.#rightsListeners) listener(client);
  }

  #scheduleCheck(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      for (const client of this.#clients)
        if (client.session?.user() === undefined) this.#close(client);
      this.#scheduleCheck();
    }, CHECK_MS);
  }

  #close(client: Client): void {
    client.close(SESSION_EXPIRED);
    this.#clients.delete(client);
    // The session stays with the client: what still arrives is not answered as if nobody had signed in.
  }
}
