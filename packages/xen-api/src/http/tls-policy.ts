/**
 * Whom to trust. `fingerprint` is the SHA-256 of the certificate in hex, colons
 * and case do not matter; several for the members of a pool.
 */
export type TlsPolicy =
  | { readonly verify: true; readonly ca?: string | readonly string[] }
  | { readonly fingerprint: string | readonly string[] }
  | TrustOnFirstUse
  | { readonly insecure: true };

export interface TrustOnFirstUse {
  readonly trustOnFirstUse: true;
  /** Fingerprints of earlier times by `host:port`: from then on they are pinned. */
  readonly known?: Readonly<Record<string, string>>;
  /** Fingerprints that a person has accepted: good at any address, in place of what was known there. */
  readonly accepted?: readonly string[];
  /** A certificate was trusted for the first time: keep it and give it as `known`. */
  readonly onFingerprint: (address: string, fingerprint: string) => void;
}
