import type { TLSSocket } from "node:tls";
import { XoError } from "@xo-server/model";
import type { TlsPolicy } from "./tls-policy.js";

/** Verifies the certificate of a new connection. */
export interface CertificateVerifier {
  /** Certificate authorities (PEM) of the policy; undefined: those of Node. */
  readonly ca: readonly string[] | undefined;
  /** @throws XoError TLS_UNTRUSTED, TLS_FINGERPRINT_MISMATCH */
  verify(address: string, socket: TLSSocket): void;
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
      verify: (address, socket) => {
        verifyFingerprint(address, fingerprintOf(socket), pinned);
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
      verify(address, socket) {
        const shown = fingerprintOf(socket);
        const pinned = pinnedByAddress.get(address);
        if (pinned !== undefined && !accepted.has(shown)) {
          verifyFingerprint(address, shown, [pinned]);
          return;
        }
        if (pinned === shown) return;
        pinnedByAddress.set(address, shown);
        policy.onFingerprint(address, shown);
      },
    };
  }
  return {
    ca: policy.ca === undefined ? undefined : [policy.ca].flat(),
    verify: verifyAuthorities,
  };
}

function verifyAuthorities(address: string, socket: TLSSocket): void {
  if (socket.authorized) return;
  throw new XoError("TLS_UNTRUSTED", {
    address,
    // An Error in fact and in the types of Node, a string in its documentation.
    reason: String(socket.authorizationError),
    fingerprint: fingerprintOf(socket),
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

function fingerprintOf(socket: TLSSocket): string {
  return normalise(socket.getPeerX509Certificate()?.fingerprint256 ?? "none");
}

function normalise(fingerprint: string): string {
  return fingerprint.replaceAll(":", "").toLowerCase();
}
