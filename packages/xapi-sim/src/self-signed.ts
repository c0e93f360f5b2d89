import { generate } from "selfsigned";
import type { TlsIdentity } from "./listener.js";

/** A key and a self-signed certificate for the loopback address. */
export async function makeIdentity(): Promise<TlsIdentity> {
  const { private: key, cert } = await generate(
    [{ name: "commonName", value: "xapi-sim" }],
    {
      algorithm: "sha256",
      extensions: [
        // Clients may have it as their authority; qemu requires the mark.
        { name: "basicConstraints", cA: true },
        {
          name: "subjectAltName",
          altNames: [
            { type: 2, value: "localhost" },
            { type: 7, ip: "127.0.0.1" },
          ],
        },
      ],
    },
  );
  return { key, cert };
}
