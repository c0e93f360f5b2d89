import type { ViewObject } from "../view.js";

/** Sets a field, unless there is nothing to say: absent rather than undefined. */
export function put(view: ViewObject, field: string, value: unknown): void {
  if (value !== undefined) view[field] = value;
}
