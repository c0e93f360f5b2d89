import type { Cabling } from "./cabling.js";

/** Something that is not as it should be: of one network or device, on some hosts. */
export interface TopologyFinding {
  readonly kind:
    | "unreachable"
    | "missing"
    | "down"
    | "unplugged"
    | "bond-member"
    | "mtu";
  readonly tone: "bad" | "warn";
  readonly hosts: readonly string[];
  readonly network?: string;
  readonly device?: string;
}

const kinds = [
  "unreachable",
  "down",
  "missing",
  "bond-member",
  "unplugged",
  "mtu",
];

/** Problems of the cabling, worst first. */
export function findingsOf({
  hosts,
  networks,
}: Cabling): readonly TopologyFinding[] {
  const found = new Map<string, TopologyFinding & { hosts: string[] }>();
  const add = (finding: TopologyFinding): void => {
    const { kind, network = "", device = "" } = finding;
    const key = `${kind}/${network}/${device}`;
    const known = found.get(key);
    if (known === undefined)
      found.set(key, { ...finding, hosts: [...finding.hosts] });
    else known.hosts.push(...finding.hosts);
  };
  const unreachable = hosts.filter(
    ({ host }) => host.power_state !== "Running",
  );
  for (const { host } of unreachable)
    add({ kind: "unreachable", tone: "bad", hosts: [host.id] });
  for (const { host, ports } of hosts)
    for (const { problem, pif } of ports)
      if (problem === "down" || problem === "bond-member")
        add({
          kind: problem,
          tone: problem === "down" ? "bad" : "warn",
          hosts: [host.id],
          device: pif.device,
        });
  for (const { network, missing, links } of networks) {
    if (missing.length > 0)
      add({
        kind: "missing",
        tone: "warn",
        hosts: missing,
        network: network.id,
      });
    for (const { problem, host } of links)
      if (problem === "unplugged" || problem === "mtu")
        add({
          kind: problem,
          tone: "warn",
          hosts: [host],
          network: network.id,
        });
  }
  return [...found.values()].sort(
    (a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind),
  );
}
