import { X509Certificate, createPrivateKey } from "node:crypto";
import { createSecureContext, type SecureVersion } from "node:tls";
import { XoError } from "@xo-server/model";

/** A certificate with its intermediate certificates, and its private key, as PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
  /** SHA-256 of the certificate, hexadecimal with colons. */
  readonly fingerprint: string;
  /** When the certificate ends, in ms since the epoch. */
  readonly expiresAt: number;
}

/** @throws XoError CONFIG_INVALID: not a valid certificate or key, or they do not match */
export function toKeyPair(cert: string, key: string, where: string): KeyPair {
  try {
    const certificate = new X509Certificate(cert);
    if (!certificate.checkPrivateKey(createPrivateKey(key)))
      throw new Error("the private key does not match the certificate");
    // OpenSSL rejects some valid keys, such as short ones.
    createSecureContext({ cert, key });
    const expiresAt = Date.parse(certificate.validTo);
    return { cert, key, fingerprint: certificate.fingerprint256, expiresAt };
  } catch (error) {
    const reason = (error as Error).message;
    throw new XoError("CONFIG_INVALID", { where, reason }, error);
  }
}

export interface SecureSettings {
  readonly cert: string;
  readonly key: string;
  readonly minVersion: SecureVersion;
}

/** Options for creating a TLS server and for setSecureContext. */
export function toSecureSettings(
  { cert, key }: KeyPair,
  minVersion: SecureVersion,
): SecureSettings {
  return { cert, key, minVersion };
}
