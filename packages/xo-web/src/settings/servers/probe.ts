/** The answer of `server.probe`. Times in ms since the epoch. */
export interface Probe {
  readonly address: string;
  readonly isReachable: boolean;
  readonly problem?: ProbeProblem;
  /** Address to add instead, of a member that is not the coordinator. */
  readonly coordinator?: string;
  readonly certificate?: Certificate;
  /** Name of the xo-server that has reached it, if the one of this page does not. */
  readonly via?: string;
}

type ProbeProblem =
  | "name-not-found"
  | "refused"
  | "timed-out"
  | "unreachable"
  | "not-tls"
  | "proxy"
  | "not-a-xapi"
  | "starting"
  | "member";

export interface Certificate {
  /** SHA-256, 64 hexadecimal digits. */
  readonly fingerprint: string;
  readonly subject: string;
  readonly issuer: string;
  readonly names: string;
  readonly validFrom: number;
  readonly validTo: number;
  readonly isSelfSigned: boolean;
  readonly isTrusted: boolean;
  /** Error code of OpenSSL. */
  readonly distrust?: string;
}

/** Why a certificate is not trusted; key of the message. */
type Distrust =
  | "selfSigned"
  | "expired"
  | "notYet"
  | "otherName"
  | "unknownAuthority"
  | "unnamed";

const distrusts: Readonly<Record<string, Distrust>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "selfSigned",
  SELF_SIGNED_CERT_IN_CHAIN: "selfSigned",
  CERT_HAS_EXPIRED: "expired",
  CERT_NOT_YET_VALID: "notYet",
  ERR_TLS_CERT_ALTNAME_INVALID: "otherName",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "unknownAuthority",
  UNABLE_TO_GET_ISSUER_CERT: "unknownAuthority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "unknownAuthority",
};

/** @returns undefined: the certificate is trusted */
export function distrustOf({
  isTrusted,
  distrust = "",
}: Certificate): Distrust | undefined {
  if (isTrusted) return undefined;
  return Object.hasOwn(distrusts, distrust) ? distrusts[distrust] : "unnamed";
}

/** The step after a probe. */
type AfterProbe =
  /** The host cannot be added. */
  | "stop"
  /** The user has to confirm the certificate. */
  | "confirm"
  | "connect";

/** @param accepted fingerprint that the user accepted earlier */
export function afterProbe(probe: Probe, accepted?: string): AfterProbe {
  if (probe.problem !== undefined) return "stop";
  const { certificate } = probe;
  if (certificate === undefined || certificate.isTrusted) return "connect";
  return certificate.fingerprint === accepted ? "connect" : "confirm";
}

/** Digits in pairs, as hosts and other tools show them: `AB:CD:...`. */
export function toPairs(fingerprint: string): string {
  return fingerprint.toUpperCase().replace(/..(?!$)/g, "$&:");
}

const NAME = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])$/i;
const BARE_IPV6 = /^[0-9a-f:]*:[0-9a-f:.]*:[0-9a-f:.]*$/i;

type AddressInputError = "empty" | "scheme" | "login" | "port" | "name";

/** Checks an address while it is typed; the server checks it again. */
export function addressInputError(text: string): AddressInputError | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return "empty";
  if (trimmed.includes("@")) return "login";
  if (BARE_IPV6.test(trimmed)) return undefined;
  const [, scheme, rest] = /^(?:([a-z]+):\/\/)?(.*?)\/?$/i.exec(trimmed)!;
  if (scheme !== undefined && !/^https?$/i.test(scheme)) return "scheme";
  const [, name, port] = /^(\[.*\]|[^:]*)(?::(.*))?$/.exec(rest!) ?? [];
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && isPort(Number(port))))
    return "port";
  return NAME.test(name ?? "") ? undefined : "name";
}

function isPort(port: number): boolean {
  return port > 0 && port < 65_536;
}

/** Whether the connection has no TLS, so that the password of the pool is sent unencrypted. */
export function isPlain(host: string): boolean {
  return /^\s*http:\/\//i.test(host);
}
