import { shallowRef } from "vue";
import type { ObjectRow } from "../objects/object-row.js";
import type { Action } from "./action.js";

export interface Asked {
  readonly action: Action;
  readonly objects: readonly ObjectRow[];
  /** It is done, has failed and was told, or is not wanted. */
  readonly ended: () => void;
}

/** What somebody wants done, for ActionHost; it lives once, over the page. */
export const asked = shallowRef<Asked | undefined>();
/** Whether something was ever wanted: until then ActionHost is not even fetched. */
export const hasAsked = shallowRef(false);

/** Resolves when it has ended, whatever came of it: that is told in toasts. */
export function askFor(
  action: Action,
  objects: readonly ObjectRow[],
): Promise<void> {
  asked.value?.ended();
  hasAsked.value = true;
  return new Promise((resolve) => {
    asked.value = { action, objects, ended: resolve };
  });
}
