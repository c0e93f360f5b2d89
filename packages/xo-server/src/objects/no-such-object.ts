import { XoError } from "@xo-server/model";

/** The object was deleted, or has left its pool. */
export function isNoSuchObject(error: unknown): boolean {
  return error instanceof XoError && error.code === "NO_SUCH_OBJECT";
}
