import { X509Certificate } from "node:crypto";

export const CERTIFICATES =
  /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Why a text has no certificates; undefined if it has. */
export function findCertificateProblem(text: string): string | undefined {
  const found = text.match(CERTIFICATES) ?? [];
  if (found.length === 0) return "has no certificate in PEM format";
  try {
    for (const one of found) new X509Certificate(one);
    return undefined;
  } catch {
    return "has an invalid certificate";
  }
}
