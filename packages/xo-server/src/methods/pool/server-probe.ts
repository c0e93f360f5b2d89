import { XoError, XapiError, type ErrorCode } from "@xo-server/model";
import type { HostProbe } from "@xo-server/xen-api";
import { Type, type Static } from "typebox";
import { defineOperation } from "../definition/define-operation.js";

const problems = [
  "name-not-found",
  "refused",
  "timed-out",
  "unreachable",
  "not-tls",
  "proxy",
  "not-a-xapi",
  "starting",
  "member",
] as const;
type Problem = (typeof problems)[number];

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
    Type.Enum([...problems], {
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
});

const LIMIT_MS = 5_000;

export const serverProbe = defineOperation({
  name: "server.probe",
  summary:
    "Check whether a pool is reachable at an address, without signing in, and return its certificate. Returns no information about servers other than XAPI.",
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
      const found = await services.hostProber.probe({
        host,
        signal,
        timeoutMs: LIMIT_MS,
        ...(httpProxy === undefined ? {} : { proxy: httpProxy }),
      });
      return toPublic(found);
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

function toPublic(found: HostProbe): Static<typeof Probe> {
  const { address, certificate, error, coordinator } = found;
  const problem = error === undefined ? undefined : problemOf(error);
  const isUnreachable =
    problem !== undefined && UNREACHABLE_PROBLEMS.has(problem);
  return {
    address,
    isReachable: !isUnreachable,
    ...(problem === undefined ? {} : { problem }),
    ...(coordinator === undefined ? {} : { coordinator }),
    ...(certificate === undefined
      ? {}
      : { certificate: { ...certificate, isTrusted: isTrusted(certificate) } }),
  };
}

function isTrusted({ distrust }: NonNullable<HostProbe["certificate"]>) {
  return distrust === undefined;
}

/** The host does not exist or is unreachable. */
const UNREACHABLE_PROBLEMS: ReadonlySet<Problem> = new Set([
  "name-not-found",
  "refused",
  "timed-out",
  "unreachable",
  "proxy",
]);

const byCode: Readonly<Partial<Record<ErrorCode, Problem>>> = {
  CONNECTION_REFUSED: "refused",
  CONNECTION_TIMEOUT: "timed-out",
  CALL_TIMEOUT: "timed-out",
  PROXY_FAILED: "proxy",
  UNREACHABLE: "unreachable",
};

/** Messages of sockets and OpenSSL, more precise than the code. */
const byReason: readonly (readonly [ErrorCode, RegExp, Problem])[] = [
  ["UNREACHABLE", /^(ENOTFOUND|EAI_AGAIN)$/, "name-not-found"],
  ["UNREACHABLE", /^ETIMEDOUT$/, "timed-out"],
  ["CONNECTION_LOST", /^(EPROTO|ERR_SSL_)|handshake/, "not-tls"],
];

/** @throws errors that say nothing about the host, such as an aborted probe */
function problemOf(error: XoError | XapiError): Problem {
  if (error instanceof XapiError) {
    if (error.code === "HOST_STILL_BOOTING") return "starting";
    return error.code === "HOST_IS_SLAVE" ? "member" : "not-a-xapi";
  }
  const { code, data } = error;
  if (code === "ABORTED") throw error;
  const [, , exact] =
    byReason.find(
      ([of, words]) => of === code && words.test(String(data["reason"])),
    ) ?? [];
  return exact ?? byCode[code] ?? "not-a-xapi";
}

/** Probes a host before it is added. */
export const serverProbeOperations = [serverProbe];
