import { once } from "node:events";
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { ServerAddress } from "@xo-server/store";
import { PeerRefusal, readRefusal } from "./refusal.js";

/** A server answers within this time, in ms, or is not waited for. */
const ANSWER_MS = 3_000;

interface PeerRequest {
  readonly path: string;
  /** See PeerMessages.sealRequest. */
  readonly sealed: string;
  readonly clock: MonotonicClock;
  /** Ends the request, and its response. */
  readonly signal: AbortSignal;
}

/**
 * Sends a GET request to another server. A server with TLS must have the certificate
 * whose fingerprint it has written into the database.
 * @returns its response with status 200
 * @throws PeerRefusal another status; XoError CONNECTION_TIMEOUT, TLS_FINGERPRINT_MISMATCH; Error it
 *   cannot be reached
 */
export function requestFromPeer(
  server: ServerAddress,
  request: PeerRequest,
): Promise<IncomingMessage> {
  return withLimit(server, request, async (signal) => {
    const { sent } = await send(server, request, signal);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    if (response.statusCode === 200) return response;
    throw new PeerRefusal(await readRefusal(response));
  });
}

/** A connection that another server has switched to another protocol. */
interface UpgradedConnection {
  readonly socket: Socket;
  readonly headers: IncomingMessage["headers"];
}

/**
 * As `requestFromPeer`, for a connection in another protocol. The signal of the request ends it only
 * until it is established.
 * @param protocol value of the header Upgrade
 * @throws as requestFromPeer
 */
export function upgradeAtPeer(
  server: ServerAddress,
  request: PeerRequest,
  protocol: string,
): Promise<UpgradedConnection> {
  return withLimit(server, request, async (signal) => {
    const { sent, socket } = await send(server, request, signal, {
      connection: "upgrade",
      upgrade: protocol,
    });
    const onAbort = () => socket.destroy();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const { response, head } = await upgraded(sent);
      // The other end may be the first to send in the new protocol, and its bytes come with the response.
      if (head.length > 0) socket.unshift(head);
      socket.setNoDelay(true);
      // Node.js has detached the socket from the request: nothing listens for its errors.
      socket.on("error", () => undefined);
      return { socket, headers: response.headers };
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  });
}

async function upgraded(
  sent: ClientRequest,
): Promise<{ response: IncomingMessage; head: Buffer }> {
  const [kind, response, head] = await Promise.race(
    ["upgrade", "response"].map(async (event) => {
      const [first, , bytes] = (await once(sent, event)) as [
        IncomingMessage,
        Socket?,
        Buffer?,
      ];
      return [event, first, bytes ?? Buffer.alloc(0)] as const;
    }),
  );
  if (kind === "upgrade") return { response, head };
  throw new PeerRefusal(await readRefusal(response));
}

async function withLimit<T>(
  { address }: ServerAddress,
  { clock, signal }: PeerRequest,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = clock.setTimeout(() => {
    limit.abort(new XoError("CONNECTION_TIMEOUT", { address, ms: ANSWER_MS }));
  }, ANSWER_MS);
  try {
    return await act(AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    throw limit.signal.aborted ? limit.signal.reason : error;
  } finally {
    clock.clearTimeout(timer);
  }
}

async function send(
  server: ServerAddress,
  { path, sealed }: PeerRequest,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ sent: ClientRequest; socket: Socket }> {
  const socket = await connect(server, signal);
  const sent = request({
    path,
    headers: {
      ...headers,
      host: server.address,
      authorization: `Bearer ${sealed}`,
    },
    createConnection: () => socket,
    // The connection stays when it has been switched to another protocol.
    ...(headers["upgrade"] === undefined && { signal }),
  });
  sent.end();
  return { sent, socket };
}

async function connect(
  { address, fingerprint }: ServerAddress,
  signal: AbortSignal,
): Promise<Socket> {
  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  const to = { host, port: Number(port) };
  const socket =
    fingerprint === undefined
      ? connectTcp(to)
      : connectTls({ ...to, rejectUnauthorized: false });
  try {
    await once(
      socket,
      fingerprint === undefined ? "connect" : "secureConnect",
      {
        signal,
      },
    );
    if (fingerprint !== undefined)
      checkCertificate(socket as TLSSocket, { address, fingerprint });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** @throws XoError TLS_FINGERPRINT_MISMATCH */
function checkCertificate(
  socket: TLSSocket,
  { address, fingerprint: pinned }: ServerAddress,
): void {
  const fingerprint = socket.getPeerX509Certificate()?.fingerprint256 ?? "none";
  if (fingerprint !== pinned)
    throw new XoError("TLS_FINGERPRINT_MISMATCH", {
      address,
      fingerprint,
      pinned: pinned ?? "none",
    });
}
