import { XoError } from "@xo-server/model";

/** Whether the error means that no such object is known: it was deleted, or is not loaded yet. */
export function isUnknownObject(error: unknown): boolean {
  return (
    isNoSuchObject(error) ||
    (error instanceof XoError && error.code === "OBJECTS_LOADING")
  );
}

/** Whether the error means that the object was deleted or has left its pool. */
export function isNoSuchObject(error: unknown): boolean {
  return error instanceof XoError && error.code === "NO_SUCH_OBJECT";
}
