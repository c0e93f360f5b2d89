import type { Formats } from "../locale/formats.js";
import { fill, type Messages } from "../locale/messages.js";
import type { CabledNetwork } from "./cabling.js";
import { worst } from "./facts.js";

/** How a network is, in a word with its colour: the worst of all hosts. */
export function networkState(
  { missing, links }: CabledNetwork,
  { topology }: Messages,
  formats: Formats,
): { readonly tone: "good" | "warn" | "bad"; readonly words: string } {
  const problem = worst(links.map((link) => link.problem));
  if (problem === "down") return { tone: "bad", words: topology.state.down };
  if (missing.length > 0)
    return {
      tone: "warn",
      words: fill(topology.state.missing, {
        hosts: formats.plural(topology.hosts, missing.length),
      }),
    };
  return problem === undefined
    ? { tone: "good", words: topology.state.good }
    : { tone: "warn", words: topology.state[problem] };
}
