import type { TlsTrust } from "../net/tls-trust.js";

export interface NbdServer {
  /** Host name or IP address. */
  readonly address: string;
  readonly port: number;
  /** Undefined: a connection without TLS. With it, a server without TLS is refused. */
  readonly tls?: TlsTrust;
}
