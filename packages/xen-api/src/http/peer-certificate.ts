import type { TLSSocket } from "node:tls";

/** The certificate that a host shows, whether one trusts it or not. */
export interface PeerCertificate {
  /** SHA-256, 64 hexadecimal digits. */
  readonly fingerprint: string;
  /** Such as `CN=xen1, O=Example`. */
  readonly subject: string;
  readonly issuer: string;
  /** Names and addresses that it is for: `DNS:xen1, IP Address:192.0.2.1`. */
  readonly names: string;
  /** Milliseconds since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
  /** Its own authority: nobody else vouches for it. */
  readonly isSelfSigned: boolean;
  /** Why the known authorities do not vouch for it, in OpenSSL's word; absent: they do. */
  readonly distrust?: string;
}

/** Longest text that is taken out of a certificate: whoever made it chose its length. */
const MAX_TEXT = 500;

/** @returns undefined: it shows none */
export function readCertificate(
  socket: TLSSocket,
): PeerCertificate | undefined {
  const shown = socket.getPeerX509Certificate();
  if (shown === undefined) return undefined;
  return {
    fingerprint: shown.fingerprint256.replaceAll(":", "").toLowerCase(),
    subject: oneLine(shown.subject),
    issuer: oneLine(shown.issuer),
    names: oneLine(shown.subjectAltName),
    validFrom: Date.parse(shown.validFrom),
    validTo: Date.parse(shown.validTo),
    isSelfSigned: shown.subject === shown.issuer,
    // Node says Error here, its type says Error, its documentation says string.
    ...(socket.authorized
      ? {}
      : { distrust: String(socket.authorizationError) }),
  };
}

function oneLine(text: string | undefined): string {
  return (text ?? "").replaceAll("\n", ", ").slice(0, MAX_TEXT);
}
