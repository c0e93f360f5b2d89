import type { Messages } from "../../locale/messages.js";

/** Restart priorities of HA: what XAPI does with a VM when its host fails. */
export function haChoices(
  text: Messages,
): { readonly value: string; readonly label: string }[] {
  const { ha } = text.vm;
  return [
    { value: "", label: ha.none },
    { value: "best-effort", label: ha.bestEffort },
    { value: "restart", label: ha.restart },
  ];
}
