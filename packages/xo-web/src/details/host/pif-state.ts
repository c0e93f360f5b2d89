import type { Messages } from "../../locale/messages.js";
import type { Pif } from "../../objects/devices.js";

/** Whether an interface is used and has a link, in a word with its colour. */
export function pifState(
  { attached, carrier, isBondSlave }: Pif,
  { topology, host }: Messages,
): { readonly tone: "good" | "warn" | "bad"; readonly words: string } {
  // The parts of a bond are not plugged themselves.
  if (isBondSlave === true)
    return carrier
      ? { tone: "good", words: host.linkUp }
      : { tone: "bad", words: topology.state.down };
  if (!attached) return { tone: "warn", words: topology.state.unplugged };
  return carrier
    ? { tone: "good", words: topology.state.good }
    : { tone: "bad", words: topology.state.down };
}
