import type { Messages } from "../../locale/messages.js";
import type { Pif } from "../../objects/devices.js";

/** State of a PIF (attached, link) with its tone. */
export function pifState(
  { attached, carrier, isBondSlave }: Pif,
  { topology, host }: Messages,
): { readonly tone: "good" | "warn" | "bad"; readonly words: string } {
  // Members of a bond are not plugged themselves.
  if (isBondSlave === true)
    return carrier
      ? { tone: "good", words: host.linkUp }
      : { tone: "bad", words: topology.state.down };
  if (!attached) return { tone: "warn", words: topology.state.unplugged };
  return carrier
    ? { tone: "good", words: topology.state.good }
    : { tone: "bad", words: topology.state.down };
}
