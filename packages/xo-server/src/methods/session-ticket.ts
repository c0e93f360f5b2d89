import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import { Type } from "typebox";
import { defineOperation, type Operation } from "../operations/operation.js";
import { PublicUser, toPublicUser } from "../auth/public-user.js";
import type { Sessions } from "../auth/sessions.js";
import { TICKET_LIFETIME_MS, type Tickets } from "../auth/tickets.js";

export interface SessionTicketParts {
  readonly store: Pick<Store, "users" | "groups">;
  readonly sessions: Pick<Sessions, "begin">;
  readonly tickets: Tickets;
}

/** How a page that has a cookie signs in on its socket. */
export function sessionTicketMethods({
  store,
  sessions,
  tickets,
}: SessionTicketParts): Operation[] {
  return [
    defineOperation({
      name: "session.createTicket",
      summary:
        "A ticket with which a socket is signed in as whoever asks, once, within half a minute; null for who has not signed in.",
      params: Type.Object({}),
      result: Type.Object({
        ticket: Type.Union([Type.String(), Type.Null()]),
        expiresInMs: Type.Integer(),
      }),
      permission: "none",
      rest: {
        method: "post",
        path: "/session/ticket",
        operationId: "CreateSessionTicket",
      },
      handler(_, { client }) {
        const { session } = client;
        const ticket = session === undefined ? null : tickets.issue(session);
        return { ticket, expiresInMs: TICKET_LIFETIME_MS };
      },
    }),
    defineOperation({
      name: "session.signInWithTicket",
      summary:
        "Signs in on this connection with session.createTicket's ticket.",
      params: Type.Object({
        ticket: Type.String({ minLength: 1, maxLength: 100 }),
      }),
      result: PublicUser,
      permission: "none",
      handler({ ticket }, { client }) {
        const session = tickets.redeem(ticket);
        const user = store.users.get(session.userId);
        if (user === undefined) throw new XoError("CREDENTIALS_INVALID");
        sessions.begin(client, session);
        return toPublicUser(user, store);
      },
    }),
  ];
}
