import type { Formats } from "../locale/formats.js";
import { fill, type Messages } from "../locale/messages.js";
import type { CabledNetwork } from "./cabling.js";
import { worst } from "./rows.js";

/** State of a network, with its colour: the worst of all hosts. */
export function networkState(
  { missing, links }: CabledNetwork,
  { topology }: Messages,
  formats: Formats,
): { readonly tone: "good" | "warn" | "bad"; readonly label: string } {
  const problem = worst(links.map((link) => link.problem));
  if (problem === "down") return { tone: "bad", label: topology.state.down };
  if (missing.length > 0)
    return {
      tone: "warn",
      label: fill(topology.state.missing, {
        hosts: formats.plural(topology.hosts, missing.length),
      }),
    };
  return problem === undefined
    ? { tone: "good", label: topology.state.good }
    : { tone: "warn", label: topology.state[problem] };
}
