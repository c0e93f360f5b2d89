import type { Dispatcher } from "../../../operations/dispatcher.js";
import { TOKEN_COOKIE } from "../../authentication/credentials.js";
import { callerOf } from "../routing/rest-request.js";
import type { RouteTable } from "../routing/route-table.js";

/** Handles `POST /auth/logout`: deletes the token of the request and its cookie. */
export function addLogoutRoute(
  routes: RouteTable,
  dispatcher: Dispatcher,
): void {
  routes.post("/auth/logout", async (request, reply) => {
    const { context } = callerOf(request);
    const { session } = context.client;
    if (session?.tokenId !== undefined)
      await dispatcher.call(
        "token.deleteOwn",
        { tokens: [session.tokenId] },
        context,
      );
    return reply
      .header(
        "set-cookie",
        `${TOKEN_COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`,
      )
      .code(204)
      .send();
  });
}
