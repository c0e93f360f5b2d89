/** What the diagram needs of a host. */
export interface HostRow {
  readonly id: string;
  readonly name_label?: string;
  readonly power_state: string;
  readonly enabled: boolean;
}

export interface NetworkRow {
  readonly id: string;
  readonly name_label?: string;
  readonly bridge: string;
  readonly MTU?: number;
}

/** `speed` in Mbit/s; `vlan` -1: none. */
export interface PifRow {
  readonly id: string;
  readonly device: string;
  readonly vlan: number;
  readonly attached: boolean;
  readonly carrier: boolean;
  readonly physical: boolean;
  readonly management: boolean;
  readonly isBondMaster: boolean;
  readonly isBondSlave: boolean;
  readonly bondMaster?: string;
  readonly mtu?: number;
  readonly speed?: number;
  readonly $host?: string;
  readonly $network?: string;
}

export const hostFields = ["id", "name_label", "power_state", "enabled"];
export const networkFields = ["id", "name_label", "bridge", "MTU"];
export const pifFields = [
  "id",
  "device",
  "vlan",
  "attached",
  "carrier",
  "physical",
  "management",
  "isBondMaster",
  "isBondSlave",
  "bondMaster",
  "mtu",
  "speed",
  "$host",
  "$network",
];

/** What may be wrong with a way from a host to a network, worst first. */
const problems = ["down", "unplugged", "bond-member", "mtu"] as const;
export type TopologyProblem = (typeof problems)[number];

/** The most severe problem; undefined: there is none. */
export function worst(
  input: readonly (TopologyProblem | undefined)[],
): TopologyProblem | undefined {
  return problems.find((problem) => input.includes(problem));
}
