import { XapiError, type ErrorCode, type XoError } from "@xo-server/model";
import type { HostProbe } from "@xo-server/xen-api";

export const probeProblems = [
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
type ProbeProblem = (typeof probeProblems)[number];

/** What clients and other servers get to know of a host: nothing about programs other than XAPI. */
export interface PublicProbe {
  /** `host:port` */
  readonly address: string;
  readonly isReachable: boolean;
  /** Absent: a login would succeed. */
  readonly problem?: ProbeProblem;
  /** URL of the coordinator, if this is another host. */
  readonly coordinator?: string;
  readonly certificate?: NonNullable<HostProbe["certificate"]> & {
    readonly isTrusted: boolean;
  };
}

/** @throws errors that say nothing about the host, such as that of an aborted probe */
export function toPublicProbe(found: HostProbe): PublicProbe {
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
const UNREACHABLE_PROBLEMS: ReadonlySet<ProbeProblem> = new Set([
  "name-not-found",
  "refused",
  "timed-out",
  "unreachable",
  "proxy",
]);

const byCode: Readonly<Partial<Record<ErrorCode, ProbeProblem>>> = {
  CONNECTION_REFUSED: "refused",
  CONNECTION_TIMEOUT: "timed-out",
  CALL_TIMEOUT: "timed-out",
  PROXY_FAILED: "proxy",
  UNREACHABLE: "unreachable",
};

/** Messages of sockets and OpenSSL, more precise than the code. */
const byReason: readonly (readonly [ErrorCode, RegExp, ProbeProblem])[] = [
  ["UNREACHABLE", /^(ENOTFOUND|EAI_AGAIN)$/, "name-not-found"],
  ["UNREACHABLE", /^ETIMEDOUT$/, "timed-out"],
  ["CONNECTION_LOST", /^(EPROTO|ERR_SSL_)|handshake/, "not-tls"],
];

/** @throws errors that say nothing about the host, such as an aborted probe */
function problemOf(error: XoError | XapiError): ProbeProblem {
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
