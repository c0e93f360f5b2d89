/**
 * Which certificates to trust. `fingerprint` is the SHA-256 of the certificate
 * in hex, with or without colons, in any case; several for the members of a pool.
 */
export type TlsPolicy =
  | { readonly verify: true; readonly ca?: string | readonly string[] }
  | { readonly fingerprint: string | readonly string[] }
  | TrustOnFirstUse
  | { readonly insecure: true };

export interface TrustOnFirstUse {
  readonly trustOnFirstUse: true;
  /** Pinned fingerprints of earlier connections, by `host:port`. */
  readonly known?: Readonly<Record<string, string>>;
  /** Fingerprints that a user has accepted: valid at any address, replacing the pinned one. */
  readonly accepted?: readonly string[];
  /** A certificate was trusted for the first time: persist the fingerprint and pass it in `known`. */
  readonly onFingerprint: (address: string, fingerprint: string) => void;
}
