import { XoError } from "@xo-server/model";
import type { Completeness } from "./completeness.js";

export type Loading = Pick<Completeness, "isStarting">;

/** All pools were loaded. */
export const loaded: Loading = { isStarting: false };

/**
 * The error for an object that is not known. While the server loads its pools after a start it may
 * exist: programs take "no such object" for a deletion.
 * @returns NO_SUCH_OBJECT, or OBJECTS_LOADING
 */
export function missingObject(
  { isStarting }: Loading,
  type: string,
  id: string,
): XoError {
  return new XoError(isStarting ? "OBJECTS_LOADING" : "NO_SUCH_OBJECT", {
    type,
    id,
  });
}
