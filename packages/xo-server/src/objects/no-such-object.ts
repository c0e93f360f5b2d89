import { XoError } from "@xo-server/model";

/** Whether the error means that the object was deleted or has left its pool. */
export function isNoSuchObject(error: unknown): boolean {
  return error instanceof XoError && error.code === "NO_SUCH_OBJECT";
}
