import { XapiError, XoError } from "@xo-server/model";
import type { Xapi, XapiState } from "@xo-server/xen-api";
import { failed, type Result } from "./finding.js";

/** Time to connect and sign in, in ms. */
const TIMEOUT_MS = 15_000;
const SECONDS = TIMEOUT_MS / 1000;

/**
 * Signs in to a pool.
 * @returns why that was not possible; undefined: signed in
 */
export async function signIn(
  xapi: Pick<Xapi, "connect" | "state">,
): Promise<Result | undefined> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    await xapi.connect({ signal: limit });
    return undefined;
  } catch (error) {
    return limit.aborted ? ofTimeout(xapi.state) : ofError(error);
  }
}

/** A check of the account that has failed. */
export function ofError(error: unknown): Result {
  return failed((error as Error).message, remedyOf(error));
}

/** The client retries: its state has the reason of the last failure. */
function ofTimeout(state: XapiState): Result {
  const cause = "cause" in state ? state.cause : undefined;
  if (cause !== undefined)
    return failed(
      `not signed in within ${SECONDS} s: ${cause.message}`,
      remedyOf(cause),
    );
  const address = "address" in state ? state.address : "the coordinator";
  return failed(
    `${address} has not answered the sign-in within ${SECONDS} s`,
    "external authentication (Active Directory) or the toolstack of the host is slow or stuck: see /var/log/xensource.log there; xe-toolstack-restart",
  );
}

const REMEDIES: Readonly<Record<string, string>> = {
  SESSION_AUTHENTICATION_FAILED: "correct user and password of the pool",
  TLS_UNTRUSTED:
    "compare the fingerprint with that on the host (openssl x509 -noout -fingerprint -sha256 -in /etc/xensource/xapi-ssl.pem), then pin it",
  CONFIG_INVALID: "correct the configuration of the pool",
  HOST_IS_SLAVE:
    "the named coordinator is not a known host of the pool: if the address is right, add it to the addresses of the pool",
  HOST_STILL_BOOTING:
    "wait until the toolstack of the host has started; on the host: systemctl status xapi",
  CONNECTION_REFUSED:
    "on the host: systemctl status xapi; check address and port",
  CONNECTION_TIMEOUT:
    "check the address and the firewall (port 443) between this machine and the host",
  UNREACHABLE: "check the address, the route and the DNS of this machine",
  PROXY_FAILED: "check the proxy of the pool, and whether it allows port 443",
  HTTP_STATUS:
    "another program than XAPI answers there, or the toolstack fails: check the address; on the host: systemctl status xapi",
  CALL_TIMEOUT:
    "the toolstack of the host is overloaded or stuck: see /var/log/xensource.log there; xe-toolstack-restart",
};
const SAME_REMEDY: Readonly<Record<string, string>> = {
  TLS_FINGERPRINT_MISMATCH: "TLS_UNTRUSTED",
  BAD_ANSWER: "HTTP_STATUS",
};

function remedyOf(error: unknown): string {
  if (!(error instanceof XoError || error instanceof XapiError))
    return "see the log of the server";
  // Of several members: that of the one that needs an administrator.
  if (error.code === "NO_CANDIDATE" && error.cause instanceof Error)
    return remedyOf(error.cause);
  return (
    REMEDIES[SAME_REMEDY[error.code] ?? error.code] ??
    (error instanceof XoError
      ? "see the results above, and the log of the server"
      : "see the log of the host: /var/log/xensource.log")
  );
}
