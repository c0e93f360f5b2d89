import { X509Certificate } from "node:crypto";
import { makeSelfSigned } from "@xo-server/certificate";

/** A self-signed certificate for 127.0.0.1, with its fingerprint. */
export function makeCertificate() {
  const pair = makeSelfSigned({
    commonName: "localhost",
    names: ["127.0.0.1"],
  });
  return {
    ...pair,
    fingerprint: new X509Certificate(pair.cert).fingerprint256,
  };
}
