import { fill } from "../../locale/messages.js";
import type { RuleLocalization } from "../rule-text.js";
import type { DraftChange } from "./draft-changes.js";
import type { Fleet } from "./fleet.js";

/** A simulated change as text. */
export function draftText(
  change: DraftChange,
  { hostOf, vm }: Fleet,
  { text, formats }: RuleLocalization,
): string {
  const { whatIf, protection } = text.placementFailures;
  const { changes } = whatIf;
  const host = (id: string) => hostOf.get(id)?.name ?? id.slice(0, 8);
  switch (change.kind) {
    case "addHosts":
      return fill(formats.plural(changes.addHosts, change.count), {
        host: host(change.host),
      });
    case "removeHost":
      return fill(changes.removeHost, { host: host(change.host) });
    case "addVms":
      return fill(formats.plural(changes.addVms, change.count), {
        memory: formats.size(change.memory),
        protection: protection[change.protection],
      });
    case "setMemory":
      return fill(changes.setMemory, {
        vm: vm(change.vm)?.name ?? change.vm.slice(0, 8),
        memory: formats.size(change.memory),
      });
  }
}
