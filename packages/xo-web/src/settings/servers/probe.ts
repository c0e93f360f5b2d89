/** What `server.probe` answers. Times in ms since the epoch. */
export interface Probe {
  readonly address: string;
  readonly isReachable: boolean;
  readonly problem?: ProbeProblem;
  /** To be added in its place. */
  readonly coordinator?: string;
  readonly certificate?: Certificate;
}

export type ProbeProblem =
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
  /** In OpenSSL's word. */
  readonly distrust?: string;
}

/** Why nobody vouches for a certificate, as the page words it. */
export type Distrust =
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

/** @returns undefined: known authorities vouch for it */
export function distrustOf({
  isTrusted,
  distrust = "",
}: Certificate): Distrust | undefined {
  if (isTrusted) return undefined;
  return Object.hasOwn(distrusts, distrust) ? distrusts[distrust] : "unnamed";
}

/** What comes after a host was looked at. */
export type AfterProbe =
  /** The problem is in the way. */
  | "stop"
  /** A person has to say whether it is the right certificate. */
  | "ask"
  | "connect";

/** @param accepted fingerprint that was accepted before */
export function afterProbe(probe: Probe, accepted?: string): AfterProbe {
  if (probe.problem !== undefined) return "stop";
  const { certificate } = probe;
  if (certificate === undefined || certificate.isTrusted) return "connect";
  return certificate.fingerprint === accepted ? "connect" : "ask";
}

/** Digits in pairs, as hosts and other tools show them: `AB:CD:...`. */
export function toPairs(fingerprint: string): string {
  return fingerprint.toUpperCase().replace(/..(?!$)/g, "$&:");
}

const NAME = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])$/i;
const BARE_IPV6 = /^[0-9a-f:]*:[0-9a-f:.]*:[0-9a-f:.]*$/i;

export type AddressFault = "empty" | "scheme" | "login" | "port" | "name";

/** What is wrong with an address while it is typed; undefined: nothing. The server has the last word. */
export function addressFault(text: string): AddressFault | undefined {
  const given = text.trim();
  if (given === "") return "empty";
  if (given.includes("@")) return "login";
  if (BARE_IPV6.test(given)) return undefined;
  const [, scheme, rest] = /^(?:([a-z]+):\/\/)?(.*?)\/?$/i.exec(given)!;
  if (scheme !== undefined && !/^https?$/i.test(scheme)) return "scheme";
  const [, name, port] = /^(\[.*\]|[^:]*)(?::(.*))?$/.exec(rest!) ?? [];
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && isPort(Number(port))))
    return "port";
  return NAME.test(name ?? "") ? undefined : "name";
}

function isPort(port: number): boolean {
  return port > 0 && port < 65_536;
}
