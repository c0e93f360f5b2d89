import type { TlsTrust } from "./tls-trust.js";

/** One HTTP resource. URL and headers may hold secrets: neither is part of any message. */
export interface HttpEndpoint {
  /** `http:` or `https:`. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls?: TlsTrust;
  /** Path of a Unix socket through which the server is reached, as a FramedStream; absent: by the URL. */
  readonly socketPath?: string;
  /** Milliseconds without a single byte before a transfer fails; default 60,000. */
  readonly stallMs?: number;
}
