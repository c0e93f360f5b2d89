import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { probeProblems, toPublicProbe } from "../../probes/public-probe.js";
import { defineOperation } from "../definition/define-operation.js";

const Certificate = Type.Object({
  fingerprint: Type.String({ description: "SHA-256, 64 hexadecimal digits." }),
  subject: Type.String(),
  issuer: Type.String(),
  names: Type.String({
    description: "Names and addresses for which it is valid.",
  }),
  validFrom: Type.Integer({ description: "Time, in ms since the epoch." }),
  validTo: Type.Integer(),
  isSelfSigned: Type.Boolean(),
  isTrusted: Type.Boolean({
    description: "Whether it is signed by a trusted authority.",
  }),
  distrust: Type.Optional(
    Type.String({
      description:
        "Reason for which the certificate is not trusted, as an error code of OpenSSL.",
    }),
  ),
});

const Probe = Type.Object({
  address: Type.String({ description: "host:port" }),
  isReachable: Type.Boolean(),
  problem: Type.Optional(
    Type.Enum([...probeProblems], {
      description:
        "Reason for which a login would fail; absent: it would succeed.",
    }),
  ),
  coordinator: Type.Optional(
    Type.String({
      description:
        "Address of the coordinator to add instead: this host is a pool member.",
    }),
  ),
  certificate: Type.Optional(Certificate),
  via: Type.Optional(
    Type.String({
      description:
        "Name of the other server that has reached it: this one does not, and will be connected through it.",
    }),
  ),
});

const LIMIT_MS = 5_000;

export const serverProbe = defineOperation({
  name: "server.probe",
  summary:
    "Check whether a pool is reachable at an address, without signing in, and return its certificate. What this server does not reach is probed by the others of its database. Returns no information about servers other than XAPI.",
  params: Type.Object(
    {
      host: Type.String({
        minLength: 1,
        maxLength: 300,
        pattern: "^[^\\s@]+$",
        description: "Host name or address, optionally with :port or http://.",
      }),
      httpProxy: Type.Optional(
        Type.String({
          pattern: "^https?://",
          description:
            "URL of an HTTP proxy through which the pool is connected.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Probe,
  permission: "admin",
  // Audited, because the server opens a connection on behalf of the caller.
  changes: true,
  async handler({ host, httpProxy }, { signal, services }) {
    try {
      const { prober, client } = services.probes;
      const probed = {
        host,
        ...(httpProxy === undefined ? {} : { proxy: httpProxy }),
      };
      const options = { ...probed, signal, timeoutMs: LIMIT_MS };
      const found = toPublicProbe(await prober.probe(options));
      if (found.isReachable) return found;
      return (await client?.probe(probed, signal)) ?? found;
    } catch (error) {
      throw toInvalid(error);
    }
  },
});

/** A malformed address is an invalid parameter. */
function toInvalid(error: unknown): unknown {
  return error instanceof XoError && error.code === "CONFIG_INVALID"
    ? new XoError("INVALID_PARAMETERS", { reason: error.message }, error)
    : error;
}

/** Probes a host before it is added. */
export const serverProbeOperations = [serverProbe];
