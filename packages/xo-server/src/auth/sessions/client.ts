import type { Session } from "./session.js";
import type { StatusSubscriber } from "../../status/status-feed.js";

/** The client of a call: a connection, or a single request. */
export interface Client extends StatusSubscriber {
  /** Undefined: anonymous. */
  readonly session: Session | undefined;
  /** Aborted when the client has disconnected. Absent: disconnects are not known. */
  readonly disconnected?: AbortSignal;
  setSession(session: Session | undefined): void;
  /**
   * @param reason sent to the client
   * @param options.answersFirst calls in progress are answered first, which may
   * take some seconds; nothing else is sent during that time
   */
  close(reason?: string, options?: { readonly answersFirst: boolean }): void;
}

/**
 * The client of calls that the server makes by itself: it receives nothing and has
 * no session that could end.
 */
export const noClient: Client = {
  session: undefined,
  setSession: () => undefined,
  trySend: () => false,
  close: () => undefined,
};
