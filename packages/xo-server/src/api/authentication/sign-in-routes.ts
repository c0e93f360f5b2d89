import { XoError } from "@xo-server/model";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RedirectSignIn } from "../../auth/authenticator.js";
import type { OneTimeSeals } from "../../auth/one-time-seals.js";
import type { PendingSignIn } from "../../auth/providers/provider.js";
import { toSessionCaller } from "./caller.js";
import { readCookies } from "./credentials.js";
import type { LoginOptions } from "./login-options.js";
import { createTokenCookie } from "./token-cookie.js";
import { sendSignInError } from "./sign-in-page.js";

/** Start and callback of a sign-in at the provider. */
const PATH = "/signin/oidc";
const RETURN_PATH = `${PATH}/callback`;
const COOKIE = "xo-signin";
const PURPOSE = "sign-in at a provider";
/** Time to sign in at the provider, in ms. */
const PENDING_LIFETIME_MS = 10 * 60_000;

export interface SignInRoutesOptions extends LoginOptions {
  /** Pending sign-ins are in cookies of the browsers that began them. */
  readonly seals: OneTimeSeals;
}

/** Sign-in at a provider: redirect to the provider, callback with a code, redirect to the web page with a cookie. */
export function addSignInRoutes(
  app: FastifyInstance,
  options: SignInRoutesOptions,
): void {
  const { seals } = options;
  const answer =
    (work: (exchange: SignInExchange) => Promise<FastifyReply>) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      try {
        const provider = providerOf(options);
        return await work({ request, reply, provider });
      } catch (error) {
        if (!(error instanceof XoError)) throw error;
        return sendSignInError(request, reply, error);
      }
    };
  app.get(
    PATH,
    answer(async ({ request, reply, provider }) => {
      const { url, pending } = await provider.begin(
        returnUrlOf(request, provider),
      );
      const { remember } = request.query as { readonly remember?: unknown };
      const begun: BegunSignIn = {
        ...pending,
        isRemembered: remember === "true",
      };
      const sealed = seals.seal(begun, PURPOSE, PENDING_LIFETIME_MS);
      const cookie = toCookie(request, sealed);
      return reply.header("set-cookie", cookie).redirect(url);
    }),
  );
  app.get(
    RETURN_PATH,
    answer(async (exchange) => {
      const { request, reply } = exchange;
      // The cookie is valid once, also if the sign-in fails.
      reply.header("set-cookie", toCookie(request, ""));
      const cookie = await finish(exchange, options);
      return reply.header("set-cookie", cookie).redirect("/");
    }),
  );
}

/** In the cookie of the browser that began it. */
interface BegunSignIn extends PendingSignIn {
  /** The browser keeps the session after it was closed. */
  readonly isRemembered: boolean;
}

interface SignInExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly provider: RedirectSignIn;
}

/** @returns the cookie with the new token */
async function finish(
  { request, provider }: SignInExchange,
  { dispatcher, anonymous, seals }: SignInRoutesOptions,
): Promise<string> {
  const { address, isSecure } = request.clientAddress;
  const sealed = readCookies(request.headers.cookie ?? "").get(COOKIE);
  const pending = (await seals.redeem(sealed ?? "", PURPOSE)) as
    BegunSignIn | undefined;
  if (pending === undefined)
    throw toInvalidCredentials(
      "no pending sign-in in this browser, or it has expired",
    );
  const { search, searchParams } = new URL(request.url, "http://here");
  if (searchParams.get("state") !== pending.state)
    throw toInvalidCredentials("the response belongs to another sign-in");
  const url = returnUrlOf(request, provider) + search;
  const session = await provider.finish(url, pending, address);
  const { context } = toSessionCaller(session, address, anonymous);
  const { isRemembered } = pending;
  return createTokenCookie(dispatcher, context, { isSecure, isRemembered });
}

function providerOf({ authenticator }: SignInRoutesOptions): RedirectSignIn {
  const provider = authenticator?.redirect;
  if (provider !== undefined) return provider;
  throw new XoError("NO_SUCH_OBJECT", { type: "provider", id: "oidc" });
}

/** @throws XoError INVALID_REQUEST */
function returnUrlOf(
  request: FastifyRequest,
  { returnUrl }: RedirectSignIn,
): string {
  if (returnUrl !== "") return returnUrl;
  const { isSecure, host } = request.clientAddress;
  const url = `${isSecure ? "https" : "http"}://${host}${RETURN_PATH}`;
  if (host !== undefined && URL.canParse(url)) return url;
  throw new XoError("INVALID_REQUEST", { reason: "no Host header" });
}

/** SameSite=Lax, because the callback comes from another site. @param value empty: deletes the cookie */
function toCookie(request: FastifyRequest, value: string): string {
  const { isSecure } = request.clientAddress;
  const seconds = value === "" ? 0 : PENDING_LIFETIME_MS / 1000;
  const secure = isSecure ? "; Secure" : "";
  return `${COOKIE}=${value}; Path=${PATH}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

function toInvalidCredentials(reason: string): XoError {
  return new XoError("CREDENTIALS_INVALID", { reason });
}
