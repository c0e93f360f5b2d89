import { XapiError, XoError } from "@xo-server/model";

/** An error in the status: a code of the error table or of XAPI, and a message. */
export interface ErrorSummary {
  readonly code: string;
  readonly message: string;
  /**
   * Members for clients that format the message themselves: `fingerprint`,
   * `pinned`, `reason` ...
   */
  readonly data?: Readonly<Record<string, string>>;
}

/** Members of errors with which the page formats its own messages. */
const REPORTED = [
  "address",
  "fingerprint",
  "pinned",
  "reason",
  "reasons",
] as const;

/** Sentences for frequent XAPI errors that have no message. */
const SENTENCES = new Map([
  [
    "SESSION_AUTHENTICATION_FAILED",
    "the pool rejected the user name or password",
  ],
  [
    "RBAC_PERMISSION_DENIED",
    "the user lacks a required permission in the pool",
  ],
  ["HOST_STILL_BOOTING", "the host is still starting"],
]);

/** An error for clients: code, message and data of known errors, nothing about others. */
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
      ...reportedData(error),
    };
  return {
    code: "INTERNAL",
    message: error instanceof Error ? error.message : String(error),
  };
}

/** An error about a member of a pool contains the actual error in `cause`. */
function reportedData({ data, cause }: XoError): Pick<ErrorSummary, "data"> {
  const inner = cause instanceof XoError ? cause : undefined;
  const reported = REPORTED.flatMap((name) => {
    const value = inner?.data[name] ?? data[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  if (inner !== undefined) reported.push(["cause", inner.code]);
  return reported.length === 0
    ? {}
    : { data: Object.fromEntries(reported) as Record<string, string> };
}
