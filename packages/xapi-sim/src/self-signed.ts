import { makeSelfSigned } from "@xo-server/certificate";
import type { TlsIdentity } from "./listener.js";

/** A key and a self-signed certificate for the loopback address. */
export function makeIdentity(): TlsIdentity {
  return makeSelfSigned({
    commonName: "xapi-sim",
    names: ["localhost", "127.0.0.1"],
    // Clients may trust it as their authority; qemu requires the mark.
    isAuthority: true,
  });
}
