import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { isIP } from "node:net";
import { XoError } from "@xo-server/model";

/** Accepted certificates. Default: signed by a trusted CA. */
export interface Trust {
  /** Accept any certificate: no protection against man-in-the-middle attacks. */
  readonly allowUnauthorized?: boolean;
  /** SHA-256, hexadecimal, with or without colons. */
  readonly fingerprint?: string;
}

/** Creates the HTTP agent of all connections to a server. @param url http: or https: */
export function createAgent(url: string, trust: Trust): HttpAgent {
  return url.startsWith("https:") ? new TrustAgent(trust) : new HttpAgent();
}

type Callback = (error: Error | null, socket: TLSSocket) => void;

/** Verifies the certificate before a request is sent. */
class TrustAgent extends HttpsAgent {
  readonly #trust: Trust;

  constructor(trust: Trust) {
    super();
    this.#trust = trust;
  }

  override createConnection(
    options: ConnectionOptions,
    done: Callback = () => undefined,
  ): undefined {
    const host = options.host ?? "localhost";
    const socket = connect({
      ...options,
      // `check` verifies the certificate, with better error messages.
      rejectUnauthorized: false,
      ALPNProtocols: ["http/1.1"],
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    const fail = (error: Error): void => {
      socket.destroy();
      done(error, socket);
    };
    socket.once("error", fail);
    socket.once("secureConnect", () => {
      socket.off("error", fail);
      try {
        check(`${host}:${options.port ?? 443}`, socket, this.#trust);
        done(null, socket);
      } catch (error) {
        socket.once("error", () => undefined);
        fail(error as Error);
      }
    });
  }
}

/** @throws XoError TLS_UNTRUSTED, TLS_FINGERPRINT_MISMATCH */
function check(address: string, socket: TLSSocket, trust: Trust): void {
  const fingerprint = socket.getPeerX509Certificate()?.fingerprint256 ?? "none";
  if (trust.fingerprint !== undefined) {
    if (normalise(trust.fingerprint) === normalise(fingerprint)) return;
    throw new XoError("TLS_FINGERPRINT_MISMATCH", {
      address,
      fingerprint,
      pinned: trust.fingerprint,
    });
  }
  if (socket.authorized || trust.allowUnauthorized === true) return;
  const reason = String(socket.authorizationError);
  throw new XoError("TLS_UNTRUSTED", { address, reason, fingerprint });
}

function normalise(fingerprint: string): string {
  return fingerprint.replaceAll(":", "").toLowerCase();
}
