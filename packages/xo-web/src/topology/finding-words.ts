import type { Formats } from "../locale/formats.js";
import { fill, type Messages } from "../locale/messages.js";
import type { Finding } from "./findings.js";

/** Hosts that are named; more are counted. */
const NAMED = 3;

export interface Wording {
  /** Of hosts and networks, by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly text: Messages;
  readonly formats: Formats;
}

export function finding(
  { kind, hosts, network, device }: Finding,
  wording: Wording,
): string {
  return fill(wording.text.topology.found[kind], {
    hosts: hostNames(hosts, wording),
    network:
      network === undefined ? "" : (wording.names.get(network) ?? network),
    device: device ?? "",
  });
}

/** A few names, or how many they are. */
export function hostNames(
  hosts: readonly string[],
  { names, text, formats }: Wording,
): string {
  if (hosts.length > NAMED)
    return formats.plural(text.topology.hosts, hosts.length);
  const list = new Intl.ListFormat(formats.language);
  return list.format(hosts.map((id) => names.get(id) ?? id.slice(0, 8)));
}
