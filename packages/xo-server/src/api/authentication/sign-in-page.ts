import { createHash } from "node:crypto";
import { XoError, errorTable } from "@xo-server/model";
import { escapeMarkup } from "../../encoding/escape-markup.js";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Used instead of 401, for which browsers open their own password dialog (HTTP Basic). */
const FORBIDDEN = 403;

/** Sends the error of a sign-in at a provider, as HTML or JSON. */
export function sendSignInError(
  request: FastifyRequest,
  reply: FastifyReply,
  { code, message, data }: XoError,
  retryPath: string,
): FastifyReply {
  const { http } = errorTable[code];
  const reason = typeof data["reason"] === "string" ? data["reason"] : "";
  const error = code === "CREDENTIALS_INVALID" && reason ? reason : message;
  reply.code(http === 401 ? FORBIDDEN : http);
  if (request.headers.accept?.includes("text/html") !== true)
    return reply.type("application/json; charset=utf-8").send({ error });
  return reply.type("text/html; charset=utf-8").send(toPage(error, retryPath));
}

function toPage(reason: string, retryPath: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign-in failed</title>
<h1>Sign-in failed</h1>
<p>${escapeMarkup(reason)}</p>
<p><a href="${retryPath}">Try again</a> or <a href="/">sign in another way</a>.</p>
</html>
`;
}

/** Submits the form at once; the policy of the page has its hash. */
const SUBMIT = "document.forms[0].submit()";
const SUBMIT_HASH = createHash("sha256").update(SUBMIT).digest("base64");

/**
 * Sends a page that posts the fields again: a request from another site has no cookies with
 * SameSite=Lax, one from this page has them.
 */
export function sendAgain(
  reply: FastifyReply,
  fields: Readonly<Record<string, string>>,
): FastifyReply {
  const inputs = Object.entries(fields).map(
    ([name, value]) =>
      `<input type="hidden" name="${escapeMarkup(name)}" value="${escapeMarkup(value)}">`,
  );
  return reply
    .header(
      "content-security-policy",
      `default-src 'none'; script-src 'sha256-${SUBMIT_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    )
    .type("text/html; charset=utf-8").send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Signing in</title>
<form method="post">
${inputs.join("\n")}
<button>Continue</button>
</form>
<script>${SUBMIT}</script>
</html>
`);
}
