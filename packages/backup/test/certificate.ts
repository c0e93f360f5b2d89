import { X509Certificate } from "node:crypto";
import { generate } from "selfsigned";

/** Creates a self-signed certificate for localhost and 127.0.0.x. */
export async function makeCertificate(name = "localhost") {
  const { private: key, cert } = await generate(
    [{ name: "commonName", value: name }],
    {
      keyType: "ec",
      extensions: [
        { name: "basicConstraints", cA: true },
        {
          name: "subjectAltName",
          altNames: [
            { type: 2, value: name },
            { type: 7, ip: "127.0.0.1" },
          ],
        },
      ],
    },
  );
  const fingerprint = new X509Certificate(cert).fingerprint256;
  return { key, cert, fingerprint };
}
