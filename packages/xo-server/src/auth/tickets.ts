import { randomBytes } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { Clock } from "../clock.js";
import type { Session } from "./session.js";

/** Time for a page to open its socket, in ms. */
export const TICKET_LIFETIME_MS = 30_000;
const MAX_TICKETS = 10_000;

interface Ticket {
  readonly session: Session;
  readonly expiresAt: number;
}

/**
 * From a cookie to a socket: a page's token is in a cookie that its scripts
 * cannot read, and sockets read no cookies. A ticket is good once, and soon
 * not at all.
 */
export class Tickets {
  readonly #clock: Pick<Clock, "now">;
  /** In the order in which they were given out. */
  readonly #tickets = new Map<string, Ticket>();

  constructor(clock: Pick<Clock, "now">) {
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

  /** @throws XoError CREDENTIALS_INVALID: there is none, it was used, it is too old, or its session is over */
  redeem(ticket: string): Session {
    const given = this.#tickets.get(ticket);
    this.#tickets.delete(ticket);
    if (
      given === undefined ||
      given.expiresAt <= this.#clock.now() ||
      given.session.user() === undefined
    )
      throw new XoError("CREDENTIALS_INVALID");
    return given.session;
  }

  #removeExpired(): void {
    const now = this.#clock.now();
    for (const [ticket, { expiresAt }] of this.#tickets) {
      if (expiresAt > now && this.#tickets.size <= MAX_TICKETS) return;
      this.#tickets.delete(ticket);
    }
  }
}
