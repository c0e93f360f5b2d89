import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { PublicUser, toSessionUser } from "../../auth/users/public-user.js";
import {
  MAX_TICKET_LENGTH,
  TICKET_LIFETIME_MS,
} from "../../auth/sessions/tickets.js";

const sessionCreateTicket = defineOperation({
  name: "session.createTicket",
  summary:
    "Create a single-use ticket that signs in a WebSocket (/api/, or the console of a VM or host: /api/consoles/ID) as the current user within 30 s; null for anonymous clients.",
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
  handler(_, { client, services }) {
    const { session } = client;
    const ticket =
      session === undefined ? null : services.tickets.issue(session);
    return { ticket, expiresInMs: TICKET_LIFETIME_MS };
  },
});

const sessionSignInWithTicket = defineOperation({
  name: "session.signInWithTicket",
  summary: "Sign in this connection with a ticket of session.createTicket.",
  params: Type.Object({
    ticket: Type.String({
      minLength: 1,
      maxLength: MAX_TICKET_LENGTH,
      description: "Ticket returned by session.createTicket.",
    }),
  }),
  result: PublicUser,
  permission: "none",
  async handler({ ticket }, { services, client }) {
    const session = await services.tickets.redeem(ticket);
    const user = services.store.users.get(session.userId);
    if (user === undefined) throw new XoError("CREDENTIALS_INVALID");
    services.sessions.begin(client, session);
    return toSessionUser(user, services, session.user());
  },
});

/** Tickets, by which a page with a session cookie signs in on its WebSocket. */
export const sessionTicketOperations = [
  sessionCreateTicket,
  sessionSignInWithTicket,
];
