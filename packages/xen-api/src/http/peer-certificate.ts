import type { ShownCertificate } from "./certificate-verifier.js";

/** The certificate that a host presents, trusted or not. */
export interface PeerCertificate {
  /** SHA-256, 64 hexadecimal digits. */
  readonly fingerprint: string;
  /** For example `CN=xen1, O=Example`. */
  readonly subject: string;
  readonly issuer: string;
  /** Subject alternative names: `DNS:xen1, IP Address:192.0.2.1`. */
  readonly names: string;
  /** Milliseconds since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
  /** Issuer and subject are the same. */
  readonly isSelfSigned: boolean;
  /** OpenSSL's code of the verification error; absent: issued by a known authority. */
  readonly distrust?: string;
}

/** Maximum length of a text of a certificate, which an attacker can choose. */
const MAX_TEXT = 500;

/** @returns undefined: the host presents no certificate */
export function readCertificate({
  certificate: shown,
  isAuthorized,
  reason,
}: ShownCertificate): PeerCertificate | undefined {
  if (shown === undefined) return undefined;
  return {
    fingerprint: shown.fingerprint256.replaceAll(":", "").toLowerCase(),
    subject: oneLine(shown.subject),
    issuer: oneLine(shown.issuer),
    names: oneLine(shown.subjectAltName),
    validFrom: Date.parse(shown.validFrom),
    validTo: Date.parse(shown.validTo),
    isSelfSigned: shown.subject === shown.issuer,
    ...(isAuthorized ? {} : { distrust: String(reason) }),
  };
}

function oneLine(text: string | undefined): string {
  return (text ?? "").replaceAll("\n", ", ").slice(0, MAX_TEXT);
}
