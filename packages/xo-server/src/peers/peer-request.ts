import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { ServerAddress } from "@xo-server/store";
import { PeerRefusal, readRefusal } from "./refusal.js";

/** A server answers within this time, in ms, or is not waited for. */
const ANSWER_MS = 3_000;

export interface PeerRequest {
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
export async function requestFromPeer(
  server: ServerAddress,
  request: PeerRequest,
): Promise<IncomingMessage> {
  const { clock, signal } = request;
  const limit = new AbortController();
  const timer = clock.setTimeout(() => {
    const { address } = server;
    limit.abort(new XoError("CONNECTION_TIMEOUT", { address, ms: ANSWER_MS }));
  }, ANSWER_MS);
  const signals = AbortSignal.any([signal, limit.signal]);
  try {
    const response = await send(server, request, signals);
    if (response.statusCode === 200) return response;
    throw new PeerRefusal(await readRefusal(response));
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
): Promise<IncomingMessage> {
  const socket = await connect(server, signal);
  const sent = request({
    path,
    headers: { host: server.address, authorization: `Bearer ${sealed}` },
    createConnection: () => socket,
    signal,
  });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
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
