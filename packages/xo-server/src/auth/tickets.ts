import type { WallClock } from "@xo-server/kit";
import { randomBytes } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { Session } from "./session.js";

/** Time for the web page to open its WebSocket, in ms. */
export const TICKET_LIFETIME_MS = 30_000;
const MAX_TICKETS = 10_000;

interface Ticket {
  readonly session: Session;
  readonly expiresAt: number;
}

/**
 * Single-use tickets that authenticate a WebSocket: the token of the web page is in
 * an HttpOnly cookie, which its scripts cannot read, and the WebSocket API ignores
 * cookies (they would allow cross-site requests).
 */
export class Tickets {
  readonly #clock: Pick<WallClock, "now">;
  /** In the order of issue. */
  readonly #tickets = new Map<string, Ticket>();

  constructor(clock: Pick<WallClock, "now">) {
    this.#clock = clock;
  }

  /** @returns 32 random bytes in base64url */
  issue(session: Session): string {
    const ticket = randomBytes(32).toString("base64url");
    const expiresAt = this.#clock.now() + TICKET_LIFETIME_MS;
    this.#tickets.set(ticket, { session, expiresAt });
    this.#removeExpired();
    return ticket;
  }

  /** @throws XoError CREDENTIALS_INVALID: unknown, used or expired ticket, or its session has ended */
  redeem(ticket: string): Session {
    const issued = this.#tickets.get(ticket);
    this.#tickets.delete(ticket);
    if (
      issued === undefined ||
      issued.expiresAt <= this.#clock.now() ||
      issued.session.user() === undefined
    )
      throw new XoError("CREDENTIALS_INVALID");
    return issued.session;
  }

  #removeExpired(): void {
    const now = this.#clock.now();
    for (const [ticket, { expiresAt }] of this.#tickets) {
      if (expiresAt > now && this.#tickets.size <= MAX_TICKETS) return;
      this.#tickets.delete(ticket);
    }
  }
}
