import type { TlsIdentity } from "./listener.js";

/** A key and a certificate for localhost, made on the spot. */
export async function makeIdentity(): Promise<TlsIdentity> {
  throw new Error("not yet");
}
