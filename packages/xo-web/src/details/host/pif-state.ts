import type { Messages } from "../../locale/messages.js";
import type { Pif } from "../../objects/devices.js";

/** State of a PIF (attached, link) with its tone. */
export function pifState(
  { attached, carrier, isBondSlave }: Pif,
  { topology, host }: Messages,
): { readonly tone: "good" | "warn" | "bad"; readonly label: string } {
  // Members of a bond are not plugged themselves.
  if (isBondSlave === true)
    return carrier
      ? { tone: "good", label: host.linkUp }
      : { tone: "bad", label: topology.state.down };
  if (!attached) return { tone: "warn", label: topology.state.unplugged };
  return carrier
    ? { tone: "good", label: topology.state.good }
    : { tone: "bad", label: topology.state.down };
}
