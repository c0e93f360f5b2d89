import type { Client } from "../src/auth/sessions/client.js";
import type { Session } from "../src/auth/sessions/session.js";

/** A connection that is not read. */
export class FakeClient implements Client {
  session: Session | undefined;
  isClosed = false;

  setSession(session: Session | undefined): void {
    this.session = session;
  }

  trySend(): boolean {
    return true;
  }

  close(): void {
    this.isClosed = true;
  }
}
