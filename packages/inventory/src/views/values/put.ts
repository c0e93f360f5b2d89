import type { ViewObject } from "../view.js";

/** Sets a field unless the value is undefined. */
export function put(view: ViewObject, field: string, value: unknown): void {
  if (value !== undefined) view[field] = value;
}
