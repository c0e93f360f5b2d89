import type { Core } from "../calls/core.js";
import type { SessionContext } from "../operation.js";
import { crashed } from "./error-pages.js";
import type { Reply } from "./reply.js";
import type { RequestHead } from "./request-head.js";

/** The caller, and the work after the request; or the response that refuses it. */
export type Authentication =
  | { readonly session: SessionContext; end(): void }
  | { readonly refusal: Reply };

/**
 * XAPI's order: session_id as cookie, else in the query; then Basic
 * [xapi_http.ml:99-190]. Undefined: none or bad credentials.
 */
export async function authenticate(
  core: Core,
  head: RequestHead,
  hostRef: string,
): Promise<Authentication | undefined> {
  const input = cookies(head).get("session_id") ?? head.query.get("session_id");
  if (input !== null && input !== undefined) {
    if (!core.sessions.isAlive(input)) return undefined;
    return { session: core.sessions.use(input), end: () => undefined };
  }
  const header = head.headers.get("authorization");
  if (header === undefined) return undefined;
  const basic = /^Basic (.+)$/.exec(header);
  if (basic === null)
    return {
      refusal: crashed(
        "1.1",
        `Failure("Unknown authorization header: ${header}")`,
      ),
    };
  return logIn(core, Buffer.from(basic[1]!, "base64").toString(), hostRef);
}

async function logIn(
  core: Core,
  pair: string,
  hostRef: string,
): Promise<Authentication | undefined> {
  const colon = pair.indexOf(":");
  const userName = pair.slice(0, Math.max(0, colon));
  if (!core.credentials.accepts(userName, pair.slice(colon + 1))) {
    await new Promise<void>((resolve) => {
      core.clock.setTimeout(resolve, core.credentials.refusalMs);
    });
    return undefined;
  }
  const session = core.sessions.create(userName, "HTTP", hostRef);
  return { session, end: () => core.sessions.end(session.ref) };
}

function cookies(head: RequestHead): Map<string, string> {
  const pairs = (head.headers.get("cookie") ?? "").split(/;\s*/);
  return new Map(
    pairs
      .filter((pair) => pair.includes("="))
      .map((pair) => {
        const equals = pair.indexOf("=");
        return [pair.slice(0, equals), pair.slice(equals + 1)];
      }),
  );
}
