import type { WallClock } from "@xo-server/kit";
import { connect, type Socket } from "node:net";
import { XoError } from "@xo-server/model";
import { Client } from "ldapts";
import type { Config } from "../../config/config.js";
import { createLdapTrust, type LdapTrust } from "./ldap-trust.js";

/** Maximum number of received bytes per connection. */
const MAX_BYTES = 4 * 1024 * 1024;

interface LdapConnectionOptions {
  readonly ldap: Pick<Config["ldap"], "startTls" | "tls" | "timeoutMs">;
  readonly url: string;
  readonly clock: Pick<WallClock, "setTimeout" | "clearTimeout">;
}

/**
 * Runs `work` on a new connection, which is closed afterwards, after `timeoutMs`,
 * or when the directory sends more than MAX_BYTES.
 * @throws XoError CONNECTION_TIMEOUT, TLS_FINGERPRINT_MISMATCH,
 *   ANSWER_TOO_LARGE, CONFIG_INVALID; errors of ldapts and of sockets
 */
export async function withLdapConnection<T>(
  { ldap, url, clock }: LdapConnectionOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const fail = (error: Error) => {
    end.abort(error);
  };
  const { hostname } = new URL(url.replace(/^ldap/, "http"));
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const trust = await createLdapTrust(ldap.tls, host, fail);
  const client = createClient(url, trust, fail);
  const timer = clock.setTimeout(() => {
    const data = { address: url, ms: ldap.timeoutMs };
    fail(new XoError("CONNECTION_TIMEOUT", data));
  }, ldap.timeoutMs);
  try {
    const startTls = ldap.startTls && url.startsWith("ldap:");
    const done = (async () => {
      if (startTls) await client.startTLS({ ...trust.options });
      return work(client);
    })();
    return await Promise.race([done, rejectOnAbort(end.signal)]);
  } finally {
    clock.clearTimeout(timer);
    // The connection may be closed already.
    await client.unbind().catch(() => undefined);
  }
}

function createClient(
  url: string,
  trust: LdapTrust,
  fail: (error: Error) => void,
): Client {
  const bounded = <S extends Socket>(socket: S): S => {
    let bytes = 0;
    socket.on("data", (data: Buffer) => {
      bytes += data.length;
      if (bytes <= MAX_BYTES) return;
      fail(new XoError("ANSWER_TOO_LARGE", { bytes, limit: MAX_BYTES }));
      socket.destroy();
    });
    return socket;
  };
  return new Client({
    url,
    // With tlsOptions ldapts uses TLS from the start of the connection.
    ...(url.startsWith("ldaps:") ? { tlsOptions: trust.options } : {}),
    createConnection: ((port: number, host: string) =>
      bounded(connect(port, host))) as typeof connect,
    createSecureConnection: ((...input: Parameters<typeof trust.connect>) =>
      bounded(trust.connect(...input))) as typeof trust.connect,
  });
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
