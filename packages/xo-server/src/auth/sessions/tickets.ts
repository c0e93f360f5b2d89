import { XoError } from "@xo-server/model";
import type { OneTimeSeals } from "./one-time-seals.js";
import type { Session } from "./session.js";
import {
  toSessionKey,
  type SessionKey,
  type StoredSessions,
} from "./stored-sessions.js";

/** Time for the web page to open its WebSocket, in ms. */
export const TICKET_LIFETIME_MS = 30_000;
/** Maximum length of a ticket, in characters. */
export const MAX_TICKET_LENGTH = 1_000;

const PURPOSE = "ticket of a WebSocket";

interface TicketsOptions {
  readonly seals: OneTimeSeals;
  readonly sessions: StoredSessions;
}

/**
 * Single-use tickets that authenticate a WebSocket. The web page cannot use its
 * token for that: the token is in an HttpOnly cookie, which scripts cannot read,
 * and the WebSocket API ignores cookies (they would allow cross-site requests). A
 * ticket is valid on all servers of the database, because a load balancer may send
 * the WebSocket to another server.
 */
export class Tickets {
  readonly #options: TicketsOptions;

  constructor(options: TicketsOptions) {
    this.#options = options;
  }

  issue(session: Session): string {
    const ticket: SessionKey = toSessionKey(session);
    return this.#options.seals.seal(ticket, PURPOSE, TICKET_LIFETIME_MS);
  }

  /** @throws XoError CREDENTIALS_INVALID: unknown, used or expired ticket, or its session has ended */
  async redeem(text: string): Promise<Session> {
    const { seals, sessions } = this.#options;
    const ticket = (await seals.redeem(text, PURPOSE)) as
      | SessionKey
      | undefined;
    const session =
      ticket === undefined
        ? undefined
        : await sessions.open(ticket, { ofPage: true });
    if (session === undefined) throw new XoError("CREDENTIALS_INVALID");
    return session;
  }
}
