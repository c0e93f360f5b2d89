import type { TlsTrust } from "../net/tls-trust.js";

export interface NbdServer {
  /** Host name or IP address. */
  readonly address: string;
  readonly port: number;
  /** Path of a Unix socket that is connected instead; address and port are those at its other end. */
  readonly socketPath?: string;
  /** Undefined: a connection without TLS. With it, a server without TLS is refused. */
  readonly tls?: TlsTrust;
}
