import { XoError } from "@xo-server/model";
import type { LoadedPools } from "./loaded-pools.js";

export type Loading = Pick<LoadedPools, "isAwaiting" | "mayHave" | "noteFound">;

/** All pools were loaded. */
export const loaded: Loading = {
  isAwaiting: false,
  mayHave: () => false,
  noteFound: () => undefined,
};

/**
 * The error for an object that is not known. Until all pools have been loaded it may
 * exist: programs take "no such object" for a deletion.
 * @param pool id of the connection of the only pool that the object can belong to, if it is known
 * @returns NO_SUCH_OBJECT, or OBJECTS_LOADING
 */
export function missingObject(
  loading: Loading,
  type: string,
  id: string,
  pool?: string,
): XoError {
  return toError(loading.mayHave(id, pool), type, id);
}

/** The error for an object that the caller may not read: the same as for one that has never existed. */
export function hiddenObject(
  { isAwaiting }: Loading,
  type: string,
  id: string,
): XoError {
  return toError(isAwaiting, type, id);
}

function toError(mayExist: boolean, type: string, id: string): XoError {
  return new XoError(mayExist ? "OBJECTS_LOADING" : "NO_SUCH_OBJECT", {
    type,
    id,
  });
}
