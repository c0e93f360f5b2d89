import { computed, type ComputedRef } from "vue";
import { exactText } from "../../filters/value-text.js";
import { useObjects } from "../../live/use-window.js";
import type { Vm } from "../../objects/vm.js";
import type { PlacedVm } from "./violations.js";
import type { PlacementRule } from "./placement-rule.js";

/** Ids that one query accepts. */
const MAX_IDS = 1_000;
const MAX_TAGGED = 5_000;
const fields = ["id", "$container", "tags", "power_state"] as const;

/** The running VMs that rules apply to, live. */
export function usePlacedVms(
  pool: () => string,
  rules: () => readonly PlacementRule[],
): ComputedRef<readonly PlacedVm[]> {
  const { rows: named } = useObjects<Vm>(() => {
    const ids = [...new Set(rules().flatMap(({ vms = [] }) => vms))];
    if (ids.length === 0) return undefined;
    const some = ids.slice(0, MAX_IDS);
    return { type: "VM", ids: some, fields, limit: MAX_IDS };
  });
  const { rows: tagged } = useObjects<Vm>(() => {
    const tags = [...new Set(rules().flatMap(({ tag }) => tag ?? []))];
    if (tags.length === 0) return undefined;
    const anyTag = tags.map((tag) => `tags:${exactText(tag)}`).join(" ");
    return {
      type: "VM",
      fields,
      limit: MAX_TAGGED,
      filter: `$pool:"${pool()}" |(${anyTag})`,
    };
  });
  return computed(() => {
    const vms = new Map(
      [...named.value, ...tagged.value].map((vm) => [vm.id, vm]),
    );
    return [...vms.values()].flatMap(toPlaced);
  });
}

function toPlaced({ id, $container, tags, power_state }: Vm): PlacedVm[] {
  const isUp = power_state === "Running" || power_state === "Paused";
  return isUp && $container !== undefined
    ? [{ id, host: $container, tags: tags ?? [] }]
    : [];
}
