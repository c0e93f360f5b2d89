import type { Session } from "./session.js";
import type { StatusSubscriber } from "../status/status-feed.js";

/** The other end of a call: a connection, or a single request. */
export interface Client extends StatusSubscriber {
  /** Undefined: anonymous. */
  readonly session: Session | undefined;
  /** Aborted when the other end has disconnected. Absent: not known. */
  readonly gone?: AbortSignal;
  setSession(session: Session | undefined): void;
  /**
   * @param reason sent to the other end
   * @param options.answersFirst calls in progress are answered first, for some seconds at most; nothing else is sent meanwhile
   */
  close(reason?: string, options?: { readonly answersFirst: boolean }): void;
}

/** Of calls that the server makes itself: nothing can be sent, and there is no session that could end. */
export const noClient: Client = {
  session: undefined,
  setSession: () => undefined,
  trySend: () => false,
  close: () => undefined,
};
