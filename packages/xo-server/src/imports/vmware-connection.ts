import type { VmwareServer } from "@xo-server/backup";
import { Type } from "typebox";

/** Parameters of every operation that connects to a VMware server. */
export const connectionParameters = {
  host: Type.String({
    minLength: 1,
    maxLength: 300,
    pattern: "^[^\\s@/?#]+$",
    description:
      "Host name or address of an ESXi host or a vCenter server, optionally with :port.",
  }),
  user: Type.String({ minLength: 1, maxLength: 300 }),
  password: Type.String({
    minLength: 1,
    description: "Password of that user. It is neither stored nor logged.",
  }),
  sslVerify: Type.Optional(
    Type.Boolean({
      description: "false: accepts any certificate. Default: true.",
    }),
  ),
  fingerprint: Type.Optional(
    Type.String({
      pattern: "^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$",
      description:
        "SHA-256 fingerprint of the accepted certificate, instead of a trusted authority.",
    }),
  ),
};

export interface VmwareConnection {
  readonly host: string;
  readonly user: string;
  readonly password: string;
  readonly sslVerify?: boolean;
  readonly fingerprint?: string;
}

/** A pinned certificate is required even if `sslVerify` is false. */
export function toVmwareServer({
  host,
  user,
  password,
  sslVerify = true,
  fingerprint,
}: VmwareConnection): VmwareServer {
  const server = { host, user, password };
  if (fingerprint !== undefined)
    return { ...server, tls: { fingerprints: [fingerprint] } };
  return sslVerify ? server : { ...server, tls: { insecure: true } };
}
