import type { X509Certificate } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { TlsPolicy } from "./tls-policy.js";

/**
 * The certificate of a host, read once, because Node.js returns the certificate of
 * a TLS client only once.
 */
export interface ShownCertificate {
  readonly certificate: X509Certificate | undefined;
  /** Issued by a known authority. */
  readonly isAuthorized: boolean;
  /** An Error by what Node.js does and by its types, a string by its documentation. */
  readonly reason: unknown;
}

/** Verifies the certificate of a new connection. */
export interface CertificateVerifier {
  /** Certificate authorities (PEM) of the policy; undefined: those of Node. */
  readonly ca: readonly string[] | undefined;
  /** @throws XoError TLS_UNTRUSTED, TLS_FINGERPRINT_MISMATCH */
  verify(address: string, shown: ShownCertificate): void;
}

/** Creates the verifier for a policy. It keeps the fingerprints that were trusted on first use. */
export function createCertificateVerifier(
  policy: TlsPolicy,
): CertificateVerifier {
  if ("insecure" in policy) return { ca: undefined, verify: () => undefined };
  if ("fingerprint" in policy) {
    const pinned = [policy.fingerprint].flat().map(normalise);
    return {
      ca: undefined,
      verify: (address, shown) => {
        verifyFingerprint(address, fingerprintOf(shown), pinned);
      },
    };
  }
  if ("trustOnFirstUse" in policy) {
    const pinnedByAddress = new Map(
      Object.entries(policy.known ?? {}).map(([at, print]) => [
        at,
        normalise(print),
      ]),
    );
    const accepted = new Set((policy.accepted ?? []).map(normalise));
    return {
      ca: undefined,
      verify(address, shown) {
        const fingerprint = fingerprintOf(shown);
        const pinned = pinnedByAddress.get(address);
        if (pinned !== undefined && !accepted.has(fingerprint)) {
          verifyFingerprint(address, fingerprint, [pinned]);
          return;
        }
        if (pinned === fingerprint) return;
        pinnedByAddress.set(address, fingerprint);
        policy.onFingerprint(address, fingerprint);
      },
    };
  }
  return {
    ca: policy.ca === undefined ? undefined : [policy.ca].flat(),
    verify: verifyAuthorities,
  };
}

function verifyAuthorities(address: string, shown: ShownCertificate): void {
  if (shown.isAuthorized) return;
  throw new XoError("TLS_UNTRUSTED", {
    address,
    reason: String(shown.reason),
    fingerprint: fingerprintOf(shown),
  });
}

function verifyFingerprint(
  address: string,
  fingerprint: string,
  pinned: readonly string[],
): void {
  if (pinned.includes(fingerprint)) return;
  throw new XoError("TLS_FINGERPRINT_MISMATCH", {
    address,
    fingerprint,
    pinned: pinned.join(", "),
  });
}

function fingerprintOf({ certificate }: ShownCertificate): string {
  return normalise(certificate?.fingerprint256 ?? "none");
}

function normalise(fingerprint: string): string {
  return fingerprint.replaceAll(":", "").toLowerCase();
}
