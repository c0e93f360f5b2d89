import { XapiError, XoError } from "@xo-server/model";

/** An error as the status shows it: a code of the error table or of XAPI, and a sentence. */
export interface ErrorSummary {
  readonly code: string;
  readonly message: string;
  /** What the message is made of, for who says it in other words: `fingerprint`, `pinned`, `reason` ... */
  readonly data?: Readonly<Record<string, string>>;
}

/** Members of errors that a page words for itself. */
const TOLD = ["address", "fingerprint", "pinned", "reason", "reasons"] as const;

/** What XAPI says in one word, and an operator asks about most. */
const SENTENCES = new Map([
  ["SESSION_AUTHENTICATION_FAILED", "the pool refuses this user or password"],
  ["RBAC_PERMISSION_DENIED", "this user may not do what is needed"],
  ["HOST_STILL_BOOTING", "the host is still starting"],
]);

export function toErrorSummary(error: unknown): ErrorSummary {
  if (error instanceof XapiError)
    return {
      code: error.code,
      message: SENTENCES.get(error.code) ?? error.message,
    };
  if (error instanceof XoError)
    return {
      code: error.code,
      message: error.message,
      ...toldOf(error),
    };
  return {
    code: "INTERNAL",
    message: error instanceof Error ? error.message : String(error),
  };
}

/** Where one of several members is in trouble that waits for somebody, that is told as `cause`. */
function toldOf({ data, cause }: XoError): Pick<ErrorSummary, "data"> {
  const inner = cause instanceof XoError ? cause : undefined;
  const told = TOLD.flatMap((name) => {
    const value = inner?.data[name] ?? data[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  if (inner !== undefined) told.push(["cause", inner.code]);
  return told.length === 0
    ? {}
    : { data: Object.fromEntries(told) as Record<string, string> };
}
