import { XoError, errorTable } from "@xo-server/model";
import { CliError, Refusal } from "./cli-error.js";
import { NO_TLS } from "./server/connection-error.js";
import { ExitCode } from "./exit-code.js";

/** An error for people and programs. */
export interface Report {
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
  readonly hint?: string | undefined;
  readonly data?: unknown;
}

const HINTS: Readonly<Record<string, string>> = {
  UNAUTHORIZED: "xo-cli register URL signs in",
  CREDENTIALS_INVALID:
    "user, password or code is wrong, or the token has expired",
  INVALID_PARAMETERS:
    "xo-cli methods METHOD tells what it takes; numbers and lists are json:5, json:[...]",
  UNKNOWN_METHOD: "xo-cli methods lists them",
  FILTER_INVALID: "a filter is such as 'power_state:running tags:(a b)'",
  FORBIDDEN: "xo-cli whoami tells as whom you are signed in",
  TLS_UNTRUSTED:
    "if this is the server's own fingerprint, pin it: --fingerprint FINGERPRINT",
  TLS_FINGERPRINT_MISMATCH:
    "somebody may be in between; if the certificate was renewed, register again",
  CONNECTION_REFUSED: "does the server run, and is it the right port?",
  CONNECTION_LOST: "the server ended, or something in between did",
};

const SIGNED_OUT = new Set([
  "UNAUTHORIZED",
  "CREDENTIALS_INVALID",
  "NO_SESSION",
]);

/** @param isSignedIn a server that says no to a stranger asks for signing in */
export function toReport(error: unknown, isSignedIn: boolean): Report {
  if (error instanceof CliError) {
    const { code, message, exitCode, hint } = error;
    return { code, message, exitCode, hint };
  }
  if (error instanceof Refusal) return toRefusalReport(error, isSignedIn);
  if (error instanceof XoError) {
    const { code, message } = error;
    const isPlain = error.data["reason"] === NO_TLS;
    const hint = isPlain ? "begin the URL with http://" : HINTS[code];
    return { code, message, hint, exitCode: ExitCode.unreachable };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: "INTERNAL", message, exitCode: ExitCode.internal };
}

function toRefusalReport(
  { code, message, data }: Refusal,
  isSignedIn: boolean,
): Report {
  const isStranger = code === "FORBIDDEN" && !isSignedIn;
  const name = isStranger ? "UNAUTHORIZED" : code;
  const details = toDetails(message, data);
  const isOurs = Object.hasOwn(errorTable, name) || name in HINTS;
  return {
    code: name,
    message: details === "" ? message : `${message}: ${details}`,
    exitCode: SIGNED_OUT.has(name) ? ExitCode.signedOut : ExitCode.refused,
    hint: isOurs ? HINTS[name] : undefined,
    ...(data === undefined || data === null ? {} : { data }),
  };
}

/** What is wrong, where the message does not say it: servers tell it in data, in their own words or in Ajv's. */
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
