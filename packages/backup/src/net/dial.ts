import { createHash } from "node:crypto";
import { connect as connectTcp, isIP } from "node:net";
import type { Duplex } from "node:stream";
import {
  checkServerIdentity,
  connect as connectTls,
  type TLSSocket,
} from "node:tls";
import { RepositoryError } from "../errors.js";
import { FramedStream } from "./framed-stream.js";
import type { TlsTrust } from "./tls-trust.js";

const CONNECT_MS = 20_000;

export interface Address {
  readonly host: string;
  readonly port: number;
  /** Path of a Unix socket that is connected instead, as a FramedStream; host and port are those at its other end. */
  readonly socketPath?: string | undefined;
}

/**
 * Connects, with TLS if a trust is set.
 * @throws RepositoryError `transfer-failed`, `untrusted`
 */
export async function dial(
  address: Address,
  tls: TlsTrust | undefined,
  timeoutMs = CONNECT_MS,
): Promise<Duplex> {
  const { host, port, socketPath } = address;
  const connected =
    socketPath === undefined
      ? connectTcp({ host, port, noDelay: true })
      : connectTcp({ path: socketPath });
  await established(connected, "connect", { address, timeoutMs });
  const socket =
    socketPath === undefined ? connected : new FramedStream(connected);
  // While no reader is attached: the next one sees that it is destroyed.
  socket.on("error", () => undefined);
  return tls === undefined
    ? socket
    : startTls(socket, { address, trust: tls, timeoutMs });
}

/**
 * Starts TLS on a connection; nothing is sent before the certificate is accepted.
 * @throws RepositoryError `transfer-failed`, `untrusted`
 */
export async function startTls(
  socket: Duplex,
  options: { address: Address; trust: TlsTrust; timeoutMs?: number },
): Promise<TLSSocket> {
  const { address, trust, timeoutMs = CONNECT_MS } = options;
  const name = trust.hostname ?? address.host;
  const secure = connectTls({
    socket,
    host: name,
    ...(isIP(name) === 0 && { servername: name }),
    ...(trust.authorities !== undefined && { ca: trust.authorities }),
    // Verified below, so that every reason becomes the same kind of error.
    rejectUnauthorized: false,
  });
  // Otherwise the end of a connection that was cut is that of what was received.
  socket.once("error", (error) => secure.destroy(error));
  await established(secure, "secureConnect", { address, timeoutMs });
  secure.on("error", () => undefined);
  const problem = problemOf(secure, trust);
  if (problem === undefined) return secure;
  secure.destroy();
  throw new RepositoryError("untrusted", `${nameOf(address)}: ${problem}`);
}

/** Why a certificate is not accepted. */
function problemOf(socket: TLSSocket, trust: TlsTrust): string | undefined {
  if (trust.insecure) return undefined;
  const shown = socket.getPeerCertificate();
  if (shown.raw === undefined) return "it presents no certificate";
  const pinned = pinnedFingerprints(trust);
  if (pinned !== undefined) {
    const fingerprint = fingerprintOf(shown.raw);
    if (!pinned.has(fingerprint))
      return `its certificate ${fingerprint} is not the expected one`;
    if (trust.hostname === undefined) return undefined;
    return checkServerIdentity(trust.hostname, shown)?.message;
  }
  if (socket.authorized) return undefined;
  const { authorizationError } = socket;
  return `its certificate is not trusted: ${String(authorizationError)} (SHA-256 ${fingerprintOf(shown.raw)})`;
}

/** SHA-256 in hexadecimal; undefined if authorities decide. @throws RepositoryError `invalid` */
function pinnedFingerprints({
  certificates,
  fingerprints,
}: TlsTrust): Set<string> | undefined {
  if (certificates === undefined && fingerprints === undefined)
    return undefined;
  const pinned = (fingerprints ?? []).map((one) =>
    one.replaceAll(":", "").toLowerCase(),
  );
  const blocks = certificates?.matchAll(
    /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g,
  );
  for (const [, base64] of blocks ?? [])
    pinned.push(fingerprintOf(Buffer.from(base64!, "base64")));
  if (pinned.length === 0)
    throw new RepositoryError(
      "invalid",
      "tls: certificates has no certificate in PEM",
    );
  return new Set(pinned);
}

function fingerprintOf(der: Buffer): string {
  return createHash("sha256").update(der).digest("hex");
}

/** Waits for an event of a socket that is connecting. */
function established(
  socket: Duplex,
  event: "connect" | "secureConnect",
  { address, timeoutMs }: { address: Address; timeoutMs: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void => {
      clearTimeout(timer);
      // Errors that follow are those of a connection that nothing uses.
      socket.removeAllListeners().on("error", () => undefined);
      socket.destroy();
      reject(
        new RepositoryError(
          "transfer-failed",
          `${nameOf(address)}: ${reason}`,
          { cause },
        ),
      );
    };
    const timer = setTimeout(
      () => fail(`no connection within ${timeoutMs} ms`),
      timeoutMs,
    );
    socket.once("error", (error) => fail(error.message, error));
    socket.once("close", () => fail("it closed the connection"));
    socket.once(event, () => {
      clearTimeout(timer);
      socket.removeAllListeners("error");
      socket.removeAllListeners("close");
      resolve();
    });
  });
}

/** `host:port`, for messages. */
export function nameOf({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
