/**
 * Which certificate of a TLS server is accepted. Without `certificates`,
 * `fingerprints` and `insecure`, authorities and hostname are verified.
 */
export interface TlsTrust {
  /** PEM of one or several: the server must present one of exactly these. */
  readonly certificates?: string;
  /** SHA-256 of certificates, hexadecimal, with or without colons: the server must present one of these. */
  readonly fingerprints?: readonly string[];
  /** PEM; default: the authorities of Node.js. */
  readonly authorities?: string;
  /** Must be named by the certificate; default: the host of the address, but none for pinned certificates. */
  readonly hostname?: string;
  /** Every certificate is accepted. */
  readonly insecure?: true;
}
