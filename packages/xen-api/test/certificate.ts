import { X509Certificate } from "node:crypto";
import { makeSelfSigned } from "@xo-server/certificate";

/** A self-signed certificate for a name and 127.0.0.1, with its fingerprint. */
export function makeCertificate(name = "localhost") {
  const pair = makeSelfSigned({
    commonName: name,
    names: [name, "127.0.0.1"],
    isAuthority: true,
  });
  return {
    ...pair,
    fingerprint: new X509Certificate(pair.cert).fingerprint256,
  };
}
