import { X509Certificate } from "node:crypto";
import { generate } from "selfsigned";

/** A self-signed certificate, for 127.0.0.1. */
export async function makeCertificate() {
  const { private: key, cert } = await generate(
    [{ name: "commonName", value: "localhost" }],
    {
      keyType: "ec",
      extensions: [
        { name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] },
      ],
    },
  );
  return { key, cert, fingerprint: new X509Certificate(cert).fingerprint256 };
}
