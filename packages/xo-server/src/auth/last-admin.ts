import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";

/** Whether no other user has the permission admin. */
export function isLastAdmin(
  users: Pick<Store["users"], "list" | "get">,
  id: string,
): boolean {
  if (users.get(id)?.permission !== "admin") return false;
  for (const other of users.list())
    if (other.permission === "admin" && other.id !== id) return false;
  return true;
}

/** @throws XoError INVALID_PARAMETERS */
export function checkNotLastAdmin(
  users: Pick<Store["users"], "list" | "get">,
  id: string,
): void {
  if (!isLastAdmin(users, id)) return;
  throw new XoError("INVALID_PARAMETERS", {
    reason: "the last user with the permission admin must stay",
    errors: [],
  });
}
