import type { Formats } from "../locale/formats.js";
import { fill, type Messages } from "../locale/messages.js";
import type { TopologyFinding } from "./findings.js";

/** Hosts that are named; more are counted. */
const NAMED = 3;

interface FindingLocalization {
  /** Of hosts and networks, by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly text: Messages;
  readonly formats: Formats;
}

/** A sentence, with the object that it leads to in its midst. */
interface FindingSentence {
  readonly before: string;
  readonly link?: {
    readonly type: "network" | "host";
    readonly id: string;
    readonly name: string;
  };
  readonly after: string;
}

/** In no name and no text. */
const MARK = "\u0000";

/** A finding as a sentence with at most one link, which is to its network or its only host. */
export function findingSentence(
  { kind, hosts, network, device }: TopologyFinding,
  localization: FindingLocalization,
): FindingSentence {
  const { names, text } = localization;
  const only = hosts.length === 1 ? hosts[0] : undefined;
  const id = network ?? only;
  const texts = fill(text.topology.found[kind], {
    hosts:
      network === undefined && only ? MARK : hostNames(hosts, localization),
    network: MARK,
    device: device ?? "",
  });
  const [before = "", after = ""] = texts.split(MARK);
  if (id === undefined) return { before, after };
  const type = network === undefined ? "host" : "network";
  return { before, link: { type, id, name: names.get(id) ?? id }, after };
}

/** A few names, or how many they are. */
export function hostNames(
  hosts: readonly string[],
  { names, text, formats }: FindingLocalization,
): string {
  if (hosts.length > NAMED)
    return formats.plural(text.topology.hosts, hosts.length);
  const list = new Intl.ListFormat(formats.language);
  return list.format(hosts.map((id) => names.get(id) ?? id.slice(0, 8)));
}
