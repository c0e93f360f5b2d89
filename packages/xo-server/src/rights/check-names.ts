import { closest } from "fastest-levenshtein";
import { objectTypes } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { actions } from "./actions.js";
import { accountResources } from "./privilege.js";

/** Resources that a privilege can name. */
export const resources: readonly string[] = [
  "*",
  ...objectTypes,
  "backup-repository",
  ...accountResources,
];

/** @throws XoError INVALID_PARAMETERS with the nearest name */
export function checkActionName(action: string): void {
  if (actions.includes(action)) return;
  throw unknown("action", action, actions);
}

/**
 * @returns the resource as the API writes it; case is ignored
 * @throws XoError INVALID_PARAMETERS with the nearest name
 */
export function checkResourceName(resource: string): string {
  const lower = resource.toLowerCase();
  const found = resources.find((one) => one.toLowerCase() === lower);
  if (found !== undefined) return found;
  throw unknown("resource", resource, resources);
}

function unknown(
  parameter: string,
  value: string,
  known: readonly string[],
): XoError {
  const nearest = closest(value, [...known]);
  const reason = `unknown ${parameter} "${value}"; did you mean "${nearest}"? privilege.getNames lists all`;
  return new XoError("INVALID_PARAMETERS", {
    reason,
    errors: [
      { instancePath: `/${parameter}`, keyword: "unknown", message: reason },
    ],
  });
}
