import type { Store } from "@xo-server/store";
import type { Operation } from "../operations/operation.js";
import type { AuthService } from "../auth/start-auth.js";
import type { TotpEnrollments } from "../auth/totp-enrollments.js";
import { aclMethods } from "./acl.js";
import { groupMethods } from "./group.js";
import { peopleListMethods } from "./people-list.js";
import { privilegeMethods } from "./privilege.js";
import { roleMethods } from "./role.js";
import { sessionMethods } from "./session.js";
import { signInProviderMethods } from "./sign-in-provider.js";
import { sessionTicketMethods } from "./session-ticket.js";
import { tokenMethods } from "./token.js";
import { totpMethods } from "./totp.js";
import { userMethods } from "./user.js";

/** All that is about who may do what. */
export function peopleMethods(
  store: Store,
  { signIn, sessions, tickets }: AuthService,
  enrolments: TotpEnrollments,
): Operation[] {
  return [
    ...sessionMethods({ store, signIn, sessions }),
    ...signInProviderMethods(signIn),
    ...sessionTicketMethods({ store, sessions, tickets }),
    ...tokenMethods(store),
    ...userMethods({ store, signIn, sessions }),
    ...totpMethods({ store, signIn, enrolments }),
    ...groupMethods(store),
    ...peopleListMethods(store),
    ...aclMethods(store),
    ...roleMethods(store),
    ...privilegeMethods(store),
  ];
}
