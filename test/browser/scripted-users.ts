import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";

interface Form {
  readonly username: string;
  readonly password: string;
  readonly otp?: string;
}

const COOKIE = "authenticationToken=t; HttpOnly; SameSite=Strict; Path=/";

/** `ada` with the password `right` and the code `123456`, as the REST API returns them. */
export class ScriptedUsers {
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const send = (status: number, body: object, cookie?: string) =>
      response
        .writeHead(status, {
          "content-type": "application/json",
          ...(cookie === undefined ? {} : { "set-cookie": cookie }),
        })
        .end(JSON.stringify(body));
    switch (request.url ?? "") {
      case "/rest/v0/session/ticket": {
        const isIn = request.headers.cookie?.includes("authenticationToken=t");
        return void send(200, { ticket: isIn === true ? "ticket" : null });
      }
      case "/rest/v0/signin/providers":
        return void send(200, {
          providers: [
            { id: "password", name: "Password", kind: "password" },
            { id: "oidc", name: "Acme", kind: "redirect", url: "/?at-acme" },
          ],
        });
      case "/rest/v0/auth/logout":
        return void send(200, {}, `${COOKIE}; Max-Age=0`);
      case "/rest/v0/auth/login": {
        const { username, password, otp } = (await json(request)) as Form;
        const error = "invalid credentials";
        if (username !== "ada" || password !== "right")
          return void send(401, { error });
        if (otp === undefined)
          return void send(401, { error, data: { otpRequired: true } });
        return void (otp === "123456"
          ? send(200, {}, COOKIE)
          : send(429, {
              error: "too many failed sign-in attempts",
              data: { seconds: 2, retryAfterMs: 2000 },
            }));
      }
      default:
        response.writeHead(404).end();
    }
  }
}
