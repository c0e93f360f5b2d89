import type { X509Certificate } from "node:crypto";
import {
  connect as connectTcp,
  isIP,
  type OnReadOpts,
  type Socket,
} from "node:net";
import {
  connect as connectTls,
  type ConnectionOptions,
  type TLSSocket,
} from "node:tls";
import type { MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import { addressName, type Address } from "./address.js";
import type { MemberSocket } from "./indirect-route.js";
import { networkError } from "./network-error.js";
import type { ProxyAddress } from "./proxy.js";
import { openTunnel } from "./proxy.js";
import type { CertificateVerifier } from "./certificate-verifier.js";

/** How connections are established: the same for calls, streams and consoles. */
export interface DialOptions {
  readonly verifier: CertificateVerifier;
  readonly proxy: ProxyAddress | undefined;
  readonly connectTimeoutMs: number;
  readonly clock: MonotonicClock;
}

export interface DialedSocket {
  readonly socket: MemberSocket;
  /** Bytes go to `onread`; otherwise the socket emits `data`. */
  readonly usesOnread: boolean;
  /** Absent: not TLS, or none was shown. */
  readonly certificate?: X509Certificate;
  /** Name of what the connection goes through; absent: it is direct. */
  readonly via?: string;
}

export interface DialExtra {
  /**
   * Whether the connection may be closed when nothing passes on it and the member is reached in another way. Absent: yes.
   * What was sent may still arrive: TCP sends it again after the end of a short interruption.
   */
  readonly mayEnd?: () => boolean;
  readonly onread?: OnReadOpts;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Idle time after which the kernel probes a connection, in ms. If the other end has
 * lost power, or a firewall has dropped the connection, it then fails within
 * another 10 s (ten probes, one per second), even if nothing is to be sent.
 */
const KEEP_ALIVE_MS = 15_000;

/**
 * Connects to the address, through the proxy if there is one, and verifies the certificate.
 * @throws XoError CONNECTION_REFUSED, UNREACHABLE, CONNECTION_LOST, CONNECTION_TIMEOUT, TLS_*, PROXY_FAILED, ABORTED
 */
export async function dial(
  address: Address,
  options: DialOptions,
  extra: DialExtra = {},
): Promise<DialedSocket> {
  if (options.proxy === undefined) {
    const socket = connectSocket(address, options.verifier, extra.onread);
    await waitUntilConnected(
      socket,
      addressName(address),
      options,
      extra.signal,
    );
    return {
      socket,
      usesOnread: extra.onread !== undefined,
      ...verifyCertificate(socket, address, options.verifier),
    };
  }
  const tunnel = await dialUnencrypted(address, options, extra);
  return startTls(tunnel, address, options, extra.signal);
}

/**
 * Connects to the address, through the proxy if there is one, without TLS.
 * @param extra `allowHalfOpen`: the connection is passed on, so the end of one direction does not end the other
 * @throws XoError CONNECTION_REFUSED, UNREACHABLE, CONNECTION_LOST, CONNECTION_TIMEOUT, PROXY_FAILED, ABORTED
 */
export async function dialUnencrypted(
  address: Address,
  options: DialOptions,
  extra: Pick<DialExtra, "signal"> & { readonly allowHalfOpen?: boolean },
): Promise<Socket> {
  const { signal, allowHalfOpen = false } = extra;
  const { host, port } = options.proxy ?? address;
  const name = addressName({ ...address, host, port });
  const socket = connectTcp({ host, port, noDelay: true, allowHalfOpen });
  await waitUntilConnected(socket, name, options, signal);
  if (options.proxy !== undefined)
    await openTunnelInTime(socket, address, options, signal);
  return socket;
}

/** A proxy may accept connections and not answer, or wait for a host that does not. */
async function openTunnelInTime(
  socket: Socket,
  address: Address,
  { proxy, clock, connectTimeoutMs: ms }: DialOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const name = addressName(address);
  let failure: XoError | undefined;
  const fail = (error: XoError) => {
    failure = error;
    socket.destroy();
  };
  const onAbort = () => {
    fail(new XoError("ABORTED", { what: `connecting to ${name}` }));
  };
  const timer = clock.setTimeout(() => {
    fail(new XoError("CONNECTION_TIMEOUT", { address: name, ms }));
  }, ms);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  try {
    await openTunnel(socket, proxy!, name);
  } catch (error) {
    throw failure ?? error;
  } finally {
    clock.clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/**
 * Starts TLS through a connection that something else has established, if the address requires it, and verifies the certificate.
 * @throws XoError CONNECTION_LOST, CONNECTION_TIMEOUT, TLS_*, ABORTED
 */
export async function startTls(
  tunnel: MemberSocket,
  address: Address,
  options: DialOptions,
  signal: AbortSignal | undefined,
): Promise<DialedSocket> {
  if (address.scheme === "http") return { socket: tunnel, usesOnread: false };
  const socket = connectTls({
    ...tlsOptions(address, options.verifier),
    socket: tunnel,
  });
  socket.once("close", () => tunnel.destroy());
  // Otherwise the end of a connection that was cut is that of what was received.
  tunnel.once("error", (error) => socket.destroy(error));
  await waitUntilConnected(socket, addressName(address), options, signal);
  const shown = verifyCertificate(socket, address, options.verifier);
  return { socket, usesOnread: false, ...shown };
}

function connectSocket(
  address: Address,
  trust: CertificateVerifier,
  onread: OnReadOpts | undefined,
): Socket {
  const { host, port, scheme } = address;
  const onreadOption = onread === undefined ? {} : { onread };
  return scheme === "https"
    ? connectTls({ host, port, ...onreadOption, ...tlsOptions(address, trust) })
    : connectTcp({ host, port, ...onreadOption, noDelay: true });
}

function tlsOptions(
  address: Address,
  trust: CertificateVerifier,
): ConnectionOptions {
  return {
    // `verifier` checks the certificate after the handshake, before the first byte is sent.
    rejectUnauthorized: false,
    host: address.host,
    ...(isIP(address.host) === 0 ? { servername: address.host } : {}),
    ...(trust.ca === undefined ? {} : { ca: [...trust.ca] }),
  };
}

function verifyCertificate(
  socket: Socket | TLSSocket,
  address: Address,
  trust: CertificateVerifier,
): Pick<DialedSocket, "certificate"> {
  if (!("authorized" in socket)) return {};
  try {
    const certificate = socket.getPeerX509Certificate();
    trust.verify(addressName(address), {
      certificate,
      isAuthorized: socket.authorized,
      reason: socket.authorizationError,
    });
    return certificate === undefined ? {} : { certificate };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function waitUntilConnected(
  socket: Socket,
  address: string,
  { connectTimeoutMs: ms, clock }: DialOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const event = "authorized" in socket ? "secureConnect" : "connect";
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
      clock.clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      socket.off(event, onReady).off("error", onError).off("close", onClose);
      if (error === undefined) {
        socket.setKeepAlive(true, KEEP_ALIVE_MS);
        resolve();
        return;
      }
      // A late error without a listener would end the process.
      socket.on("error", () => undefined).destroy();
      reject(networkError(address, error));
    };
    const onReady = () => {
      settle();
    };
    const onError = (error: Error) => {
      settle(error);
    };
    const onClose = () => {
      settle(new Error("closed during the handshake"));
    };
    const onAbort = () => {
      settle(new XoError("ABORTED", { what: `connecting to ${address}` }));
    };
    const timer = clock.setTimeout(() => {
      settle(new XoError("CONNECTION_TIMEOUT", { address, ms }));
    }, ms);
    socket.on(event, onReady).on("error", onError).on("close", onClose);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
  });
}
