import type { Client } from "./client.js";
import type { Session } from "./session.js";

/** A client that cannot receive notifications: a REST request, or a request of a one-time path. */
export class SessionClient implements Client {
  #session: Session | undefined;

  constructor(session: Session | undefined) {
    this.#session = session;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  setSession(session: Session | undefined): void {
    this.#session = session;
  }

  trySend(): boolean {
    return false;
  }

  close(): void {
    // The response ends the request.
  }
}
