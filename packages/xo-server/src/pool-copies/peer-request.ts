import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { XoError } from "@xo-server/model";
import type { ServerAddress } from "@xo-server/store";

export interface PeerRequest {
  readonly path: string;
  readonly authorization: string;
  /** Ends the request, and its response. */
  readonly signal: AbortSignal;
}

/**
 * Sends a GET request to another server. A server with TLS must have the certificate
 * whose fingerprint it has written into the database.
 * @throws Error it does not answer; XoError TLS_FINGERPRINT_MISMATCH
 */
export async function requestFromPeer(
  server: ServerAddress,
  { path, authorization, signal }: PeerRequest,
): Promise<IncomingMessage> {
  const socket = await connect(server, signal);
  const sent = request({
    path,
    headers: { host: server.address, authorization },
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
