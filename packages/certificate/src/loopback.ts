import { X509Certificate } from "node:crypto";
import { makeSelfSigned, type CertificateAndKey } from "./self-signed.js";

/**
 * A certificate for a server on 127.0.0.1 that clients trust as their authority, as
 * tests need it.
 * @param name further name that it is valid for
 * @returns also the SHA-256 fingerprint: upper-case hexadecimal bytes, separated by colons
 */
export function makeLoopbackCertificate(
  name = "localhost",
): CertificateAndKey & { readonly fingerprint: string } {
  const pair = makeSelfSigned({
    commonName: name,
    names: [name, "127.0.0.1"],
    isAuthority: true,
  });
  const { fingerprint256 } = new X509Certificate(pair.cert);
  return { ...pair, fingerprint: fingerprint256 };
}
