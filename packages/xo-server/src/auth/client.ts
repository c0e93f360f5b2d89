import type { Session } from "./session.js";
import type { StatusSubscriber } from "../status/status-feed.js";

/** Who an operation is done for: a connection, or a single request. */
export interface Client extends StatusSubscriber {
  /** Undefined: nobody has signed in. */
  readonly session: Session | undefined;
  setSession(session: Session | undefined): void;
  /** @param reason told to the other end */
  close(reason?: string): void;
}
