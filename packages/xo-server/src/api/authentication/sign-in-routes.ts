import { XoError } from "@xo-server/model";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RedirectSignIn } from "../../auth/sign-in/authenticator.js";
import type { OneTimeSeals } from "../../auth/sessions/one-time-seals.js";
import type {
  PendingSignIn,
  ProviderResponse,
} from "../../auth/providers/provider.js";
import { toSessionCaller } from "./caller.js";
import { readCookies } from "./credentials.js";
import type { LoginOptions } from "./login-options.js";
import { createTokenCookie } from "./token-cookie.js";
import { sendAgain, sendSignInError } from "./sign-in-page.js";

const COOKIE = "xo-signin";
const PURPOSE = "sign-in at a provider: ";
/** Time to sign in at the provider, in ms. */
const PENDING_LIFETIME_MS = 10 * 60_000;
/** A response of SAML with some hundred groups, in bytes. */
const MAX_RESPONSE_BYTES = 128 << 10;
/** Field of a response that this server has sent again. */
const AGAIN = "again";

interface SignInRoutesOptions extends LoginOptions {
  /** Encrypts pending sign-ins, which are stored in cookies of the browsers that began them. */
  readonly seals: OneTimeSeals;
}

/** Sign-in at a provider: redirect to the provider, callback with its response, redirect to the web page with a cookie. */
export function addSignInRoutes(
  app: FastifyInstance,
  options: SignInRoutesOptions,
): void {
  for (const id of ["oidc", "saml"]) {
    const answer = answerer(id, options);
    app.get(
      pathOf(id),
      answer(async (exchange) => begin(exchange, options)),
    );
    if (id === "oidc")
      app.get(
        callbackPathOf(id),
        answer(async (exchange) => end(exchange, {}, options)),
      );
    else addSamlRoutes(app, answer, options);
  }
}

type Answerer = (
  work: (exchange: SignInExchange) => Promise<FastifyReply>,
) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

function answerer(id: string, options: SignInRoutesOptions): Answerer {
  return (work) => async (request, reply) => {
    try {
      const provider = providerOf(id, options);
      return await work({ request, reply, provider });
    } catch (error) {
      if (!(error instanceof XoError)) throw error;
      return sendSignInError(request, reply, error, pathOf(id));
    }
  };
}

/** The response of SAML is a form that the browser posts. */
function addSamlRoutes(
  app: FastifyInstance,
  answer: Answerer,
  options: SignInRoutesOptions,
): void {
  app.get(
    `${pathOf("saml")}/metadata`,
    answer(async ({ request, reply, provider }) => {
      const metadata = provider.metadata(callbackUrlOf(request, provider));
      return reply.type("application/samlmetadata+xml").send(metadata);
    }),
  );
  void app.register(async (forms) => {
    forms.removeAllContentTypeParsers();
    forms.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: MAX_RESPONSE_BYTES },
      (_request, body, done) => {
        done(null, Object.fromEntries(new URLSearchParams(body as string)));
      },
    );
    forms.post(
      callbackPathOf("saml"),
      // Its cookie is SameSite=Lax: it comes only from our own page.
      { config: { acceptsOtherSites: true } },
      answer(async (exchange) => {
        const {
          SAMLResponse = "",
          RelayState = "",
          ...others
        } = (exchange.request.body ?? {}) as Readonly<Record<string, string>>;
        const fields = { SAMLResponse, RelayState };
        return others[AGAIN] === undefined
          ? sendAgain(exchange.reply, { ...fields, [AGAIN]: "true" })
          : end(exchange, fields, options);
      }),
    );
  });
}

function pathOf(id: string): string {
  return `/signin/${id}`;
}

function callbackPathOf(id: string): string {
  return `${pathOf(id)}/callback`;
}

/** Stored in the cookie of the browser that began the sign-in. */
interface BegunSignIn extends PendingSignIn {
  /** Whether the browser keeps the session after it was closed. */
  readonly isRemembered: boolean;
}

interface SignInExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly provider: RedirectSignIn;
}

async function begin(
  { request, reply, provider }: SignInExchange,
  { seals }: SignInRoutesOptions,
): Promise<FastifyReply> {
  const { url, pending } = await provider.begin(
    callbackUrlOf(request, provider),
  );
  const { remember } = request.query as { readonly remember?: unknown };
  const begun: BegunSignIn = { ...pending, isRemembered: remember === "true" };
  const sealed = seals.seal(begun, PURPOSE + provider.id, PENDING_LIFETIME_MS);
  const cookie = toCookie(request, provider, sealed);
  return reply.header("set-cookie", cookie).redirect(url);
}

async function end(
  exchange: SignInExchange,
  fields: ProviderResponse["fields"],
  options: SignInRoutesOptions,
): Promise<FastifyReply> {
  const { request, reply, provider } = exchange;
  // The cookie is valid once, also if the sign-in fails.
  reply.header("set-cookie", toCookie(request, provider, ""));
  const cookie = await finish(exchange, fields, options);
  // 303: GET follows a form that was posted.
  const status = request.method === "POST" ? 303 : 302;
  return reply.header("set-cookie", cookie).redirect("/", status);
}

/** @returns the cookie with the new token */
async function finish(
  { request, provider }: SignInExchange,
  fields: ProviderResponse["fields"],
  { dispatcher, anonymous, seals }: SignInRoutesOptions,
): Promise<string> {
  const { address, isSecure } = request.clientAddress;
  const sealed = readCookies(request.headers.cookie ?? "").get(COOKIE);
  const pending = (await seals.redeem(sealed ?? "", PURPOSE + provider.id)) as
    | BegunSignIn
    | undefined;
  if (pending === undefined)
    throw toInvalidCredentials(
      "no pending sign-in in this browser, or it has expired",
    );
  const { search, searchParams } = new URL(request.url, "http://here");
  const state = fields["RelayState"] ?? searchParams.get("state");
  if (state !== pending.state)
    throw toInvalidCredentials("the response belongs to another sign-in");
  const url = callbackUrlOf(request, provider) + search;
  const session = await provider.finish({ url, fields, address }, pending);
  const { context } = toSessionCaller(session, address, anonymous);
  const { isRemembered } = pending;
  return createTokenCookie(dispatcher, context, { isSecure, isRemembered });
}

/** @throws XoError NO_SUCH_OBJECT */
function providerOf(
  id: string,
  { authenticator }: SignInRoutesOptions,
): RedirectSignIn {
  const provider = authenticator?.redirects?.find((one) => one.id === id);
  if (provider !== undefined) return provider;
  throw new XoError("NO_SUCH_OBJECT", { type: "provider", id });
}

/** @throws XoError INVALID_REQUEST */
function callbackUrlOf(
  request: FastifyRequest,
  { id, returnUrl }: RedirectSignIn,
): string {
  if (returnUrl !== "") return returnUrl;
  const { isSecure, host } = request.clientAddress;
  const url = `${isSecure ? "https" : "http"}://${host}${callbackPathOf(id)}`;
  if (host !== undefined && URL.canParse(url)) return url;
  throw new XoError("INVALID_REQUEST", { reason: "no Host header" });
}

/** SameSite=Lax, because the callback comes from another site. @param value empty: deletes the cookie */
function toCookie(
  request: FastifyRequest,
  { id }: RedirectSignIn,
  value: string,
): string {
  const { isSecure } = request.clientAddress;
  const seconds = value === "" ? 0 : PENDING_LIFETIME_MS / 1000;
  const secure = isSecure ? "; Secure" : "";
  return `${COOKIE}=${value}; Path=${pathOf(id)}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

function toInvalidCredentials(reason: string): XoError {
  return new XoError("CREDENTIALS_INVALID", { reason });
}
