import { XoError, errorTable } from "@xo-server/model";
import { CliError, RequestError } from "./cli-error.js";
import { NO_TLS } from "./server/connection-error.js";
import { ExitCode } from "./exit-code.js";

/** A reported error. */
interface Report {
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
  readonly hint?: string | undefined;
  readonly data?: unknown;
}

const HINTS: Readonly<Record<string, string>> = {
  UNAUTHORIZED: "sign in with xo-cli register URL",
  CREDENTIALS_INVALID: "wrong user, password or code, or the token has expired",
  UNKNOWN_METHOD: "see xo-cli methods",
  FILTER_INVALID: "example of a filter: 'power_state:running tags:(a b)'",
  FORBIDDEN: "xo-cli whoami shows the current user",
  TLS_UNTRUSTED:
    "if this is the fingerprint of the server, pin it: --fingerprint FINGERPRINT",
  TLS_FINGERPRINT_MISMATCH:
    "possible man-in-the-middle attack; if the certificate was renewed, register again",
  CONNECTION_REFUSED: "check that the server is running, and the port",
  CONNECTION_LOST: "the server or a proxy closed the connection",
};

/** Failures of a bulk that are printed; --json has all. */
const MAX_FAILURES = 100;

const SIGNED_OUT = new Set([
  "UNAUTHORIZED",
  "CREDENTIALS_INVALID",
  "NO_SESSION",
]);

/** @param isSignedIn false: FORBIDDEN is reported as UNAUTHORIZED */
export function toReport(error: unknown, isSignedIn: boolean): Report {
  if (error instanceof CliError) {
    const { code, message, exitCode, hint } = error;
    return { code, message, exitCode, hint };
  }
  if (error instanceof RequestError)
    return toRequestErrorReport(error, isSignedIn);
  if (error instanceof XoError) {
    const { code, message } = error;
    const isPlain = error.data["reason"] === NO_TLS;
    const hint = isPlain ? "use a URL with http://" : HINTS[code];
    return { code, message, hint, exitCode: ExitCode.unreachable };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: "INTERNAL", message, exitCode: ExitCode.internal };
}

function toRequestErrorReport(
  { code, message, data, hint }: RequestError,
  isSignedIn: boolean,
): Report {
  const isAnonymous = code === "FORBIDDEN" && !isSignedIn;
  const name = isAnonymous ? "UNAUTHORIZED" : code;
  const details = toDetails(message, data) + toFailures(data);
  const isOurs = Object.hasOwn(errorTable, name) || name in HINTS;
  return {
    code: name,
    message: details === "" ? message : `${message}: ${details}`,
    exitCode: SIGNED_OUT.has(name) ? ExitCode.signedOut : ExitCode.refused,
    hint: hint ?? (isOurs ? HINTS[name] : undefined),
    ...(data === undefined || data === null ? {} : { data }),
  };
}

/** Failures of a bulk: which object, and why; one per line. */
function toFailures(data: unknown): string {
  const outer = Object(data) as Record<string, unknown>;
  const inner = Object(outer["data"] ?? outer) as Record<string, unknown>;
  const result = Object(inner["result"] ?? inner) as Record<string, unknown>;
  const list = result["failures"] ?? result["failed"];
  if (!Array.isArray(list)) return "";
  return list
    .slice(0, MAX_FAILURES)
    .map((one) => {
      const { id, name, error, code, message } = Object(one) as Record<
        string,
        unknown
      >;
      const reason = Object(error) as Record<string, unknown>;
      const text = message ?? reason["message"] ?? code ?? reason["code"];
      const object =
        typeof name === "string" && typeof id === "string"
          ? `${name} (${id})`
          : String(id ?? name);
      return `\n  ${object}: ${String(text)}`;
    })
    .join("");
}

/** Details that are in the data but not in the message: a reason or errors of Ajv. */
function toDetails(message: string, data: unknown): string {
  const { errors, reason } = Object(data) as {
    errors?: unknown;
    reason?: unknown;
  };
  if (typeof reason === "string") return message.includes(reason) ? "" : reason;
  if (!Array.isArray(errors)) return "";
  return errors
    .map((one) => {
      const { instancePath, message } = Object(one) as Record<string, unknown>;
      return [instancePath, message]
        .filter((word) => typeof word === "string" && word !== "")
        .join(" ");
    })
    .filter((text) => text !== "")
    .join("; ");
}
