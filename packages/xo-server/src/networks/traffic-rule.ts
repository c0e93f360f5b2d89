import { isIPv4 } from "node:net";
import { XoError } from "@xo-server/model";

/** Key of the other_config of networks and VIFs, shared with Xen Orchestra: a list of JSON texts. */
export const TRAFFIC_RULES_KEY = "xo:sdn-controller:of-rules";
/** Maximum number of rules of a network or VIF. */
export const MAX_RULES = 100;

export const protocols = ["IP", "TCP", "UDP", "ICMP", "ARP"] as const;
export const directions = ["from", "to", "from/to"] as const;

/** The members that identify a rule of a network or VIF. */
export interface TrafficMatch {
  readonly protocol: (typeof protocols)[number];
  /** Only for TCP and UDP. */
  readonly port?: number;
  /** IPv4 address or network, such as 192.0.2.0/24. */
  readonly ipRange: string;
  /** Traffic from the range, to it, or both. */
  readonly direction: (typeof directions)[number];
}

export interface TrafficRule extends TrafficMatch {
  /** False: the packets are dropped. */
  readonly allow: boolean;
}

/** @throws XoError INVALID_PARAMETERS: the members contradict each other */
export function checkMatch({ protocol, port, ipRange }: TrafficMatch): void {
  const hasPort = protocol === "TCP" || protocol === "UDP";
  if (hasPort && port === undefined)
    throw invalid(`port is required for ${protocol}`);
  if (!hasPort && port !== undefined)
    throw invalid(`port is for TCP and UDP only, not for ${protocol}`);
  const [address = "", prefix = "32", ...more] = ipRange.split("/");
  if (
    more.length > 0 ||
    !isIPv4(address) ||
    !/^([0-9]|[12]\d|3[0-2])$/.test(prefix)
  )
    throw invalid(
      `ipRange must be an IPv4 address or network such as 192.0.2.0/24, not "${ipRange}"`,
    );
}

/** Whether two rules are the same one: a network or VIF has at most one rule for each match. */
export function isSameMatch(a: TrafficMatch, b: TrafficMatch): boolean {
  return (
    a.protocol.toUpperCase() === b.protocol.toUpperCase() &&
    a.port === b.port &&
    a.ipRange === b.ipRange &&
    a.direction === b.direction
  );
}

/** @param text the value of TRAFFIC_RULES_KEY; invalid rules are left out */
export function readTrafficRules(text: string | undefined): TrafficRule[] {
  if (text === undefined) return [];
  return toList(parse(text)).flatMap((one) => {
    const rule = typeof one === "string" ? parse(one) : undefined;
    return isRule(rule) ? [rule] : [];
  });
}

/** The members in the order in which Xen Orchestra writes them. */
export function writeTrafficRules(rules: readonly TrafficRule[]): string {
  return JSON.stringify(
    rules.map(({ allow, protocol, port, ipRange, direction }) =>
      JSON.stringify({ allow, protocol, port, ipRange, direction }),
    ),
  );
}

/**
 * Priority of a rule; of several matching rules the one with the highest priority
 * applies. Rules of a VIF precede those of its network, narrow ranges precede wide
 * ones, rules with a port those without, and of otherwise equal rules those that
 * drop packets.
 * @returns an OpenFlow priority, 0 to 65,535
 */
export function priorityOf(rule: TrafficRule, isOfVif: boolean): number {
  const prefix = Number(rule.ipRange.split("/")[1] ?? 32);
  return (
    (isOfVif ? 2_000 : 1_000) +
    prefix * 10 +
    (rule.port === undefined ? 0 : 4) +
    (rule.protocol === "IP" ? 0 : 2) +
    (rule.allow ? 0 : 1)
  );
}

function isRule(value: unknown): value is TrafficRule {
  if (typeof value !== "object" || value === null) return false;
  const { protocol, ipRange, direction, port } = value as Partial<TrafficRule>;
  return (
    typeof protocol === "string" &&
    typeof ipRange === "string" &&
    typeof direction === "string" &&
    (port === undefined || typeof port === "number")
  );
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Another client has written something that is not a rule.
    return undefined;
  }
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
