/** Outcome of an attempt to sign in. */
export type SignInOutcome =
  | { readonly kind: "signed-in" }
  /** Wrong user name, password or code. */
  | { readonly kind: "refused" }
  /** Not verified: too soon after failed attempts. */
  | { readonly kind: "throttled"; readonly seconds: number }
  /** The password is right; a two-factor code is required. */
  | { readonly kind: "code-required" }
  | { readonly kind: "failed"; readonly reason: string };

export interface SignInForm {
  readonly username: string;
  readonly password: string;
  readonly otp?: string;
  /** Keeps the session after the browser was closed. */
  readonly remember?: boolean;
}

const root = "rest/v0";
/** The server answers scripts without a challenge of HTTP Basic authentication. */
const fromScript = { "x-requested-with": "XMLHttpRequest" };

/** Exchanges name and password for an HttpOnly cookie. */
export async function signIn(form: SignInForm): Promise<SignInOutcome> {
  try {
    const answer = await post("auth/login", form);
    if (answer.ok) return { kind: "signed-in" };
    const { error, data } = (await answer.json()) as {
      readonly error?: unknown;
      readonly data?: { otpRequired?: boolean; seconds?: number };
    };
    if (answer.status === 429 && data?.seconds !== undefined)
      return { kind: "throttled", seconds: data.seconds };
    if (answer.status !== 401)
      return { kind: "failed", reason: textOf(error, answer.status) };
    if (data?.otpRequired === true) return { kind: "code-required" };
    return { kind: "refused" };
  } catch (error) {
    return { kind: "failed", reason: String(error) };
  }
}

/** The cookie and its token are deleted, even if the token was no longer valid. */
export async function signOut(): Promise<void> {
  await post("auth/logout");
}

/**
 * What a socket is signed in with: sockets read no cookies.
 * @returns undefined: no stored session in this browser, or it has ended
 * @throws Error: the server, or the proxy before it, cannot answer now
 */
export async function fetchTicket(): Promise<string | undefined> {
  const answer = await post("session/ticket");
  // 403: a second factor is required since, and the session began without one.
  if (answer.status === 401 || answer.status === 403) return undefined;
  if (!answer.ok) throw new Error(`session/ticket: HTTP ${answer.status}`);
  const { ticket } = (await answer.json()) as { ticket: string | null };
  return ticket ?? undefined;
}

/** An identity provider, which redirects the browser back after the sign-in. */
export interface RedirectProvider {
  readonly id: string;
  readonly name: string;
  readonly url: string;
}

interface Provider {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly url?: string;
}

/** @returns none if the server does not report it */
export async function fetchRedirectProviders(): Promise<RedirectProvider[]> {
  const answer = await fetch(addressOf("signin/providers"), {
    headers: fromScript,
  });
  if (!answer.ok) return [];
  const { providers } = (await answer.json()) as { providers: Provider[] };
  return providers.flatMap(({ id, name, kind, url }) =>
    kind === "redirect" && url !== undefined ? [{ id, name, url }] : [],
  );
}

function addressOf(path: string): URL {
  return new URL(`${root}/${path}`, document.baseURI);
}

function post(path: string, body?: object): Promise<Response> {
  return fetch(addressOf(path), {
    method: "POST",
    headers: {
      ...fromScript,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function textOf(error: unknown, status: number): string {
  return typeof error === "string" ? error : `HTTP ${status}`;
}
