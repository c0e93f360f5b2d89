import { XoError, errorTable } from "@xo-server/model";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Instead of 401, which makes browsers ask for a password (HTTP Basic). */
const FORBIDDEN = 403;

/** Sends the error of a sign-in at a provider, as HTML or JSON. */
export function sendSignInError(
  request: FastifyRequest,
  reply: FastifyReply,
  { code, message, data }: XoError,
): FastifyReply {
  const { http } = errorTable[code];
  const reason = typeof data["reason"] === "string" ? data["reason"] : "";
  const error = code === "CREDENTIALS_INVALID" && reason ? reason : message;
  reply.code(http === 401 ? FORBIDDEN : http);
  if (request.headers.accept?.includes("text/html") !== true)
    return reply.type("application/json; charset=utf-8").send({ error });
  return reply.type("text/html; charset=utf-8").send(toPage(error));
}

function toPage(reason: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign-in failed</title>
<h1>Sign-in failed</h1>
<p>${escape(reason)}</p>
<p><a href="/signin/oidc">Try again</a> or <a href="/">sign in another way</a>.</p>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
