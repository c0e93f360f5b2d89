/** Allows or denies an action on the objects of a resource type. */
export interface Privilege {
  readonly effect: "allow" | "deny";
  /** An object type such as `VM`; `*`: all types of pools, see `accountResources`. */
  readonly resource: string;
  /** Such as `read` or `operate:start`; `operate` includes all `operate:...`, `*` is every action. */
  readonly action: string;
  /** Filter expression that objects must match; absent: all objects of the type. */
  readonly selector?: string;
}

/** Whether a privilege for `granted` covers `action`. */
export function coversAction(granted: string, action: string): boolean {
  return (
    granted === "*" || granted === action || action.startsWith(`${granted}:`)
  );
}

/** Resource types of accounts and rights; `*` does not include them. */
export const accountResources: ReadonlySet<string> = new Set([
  "user",
  "group",
  "acl-role",
  "acl-privilege",
]);

/** Ignores case: other tools write `vm` for the type `VM`. */
export function coversResource(granted: string, resource: string): boolean {
  if (granted === "*") return !accountResources.has(resource);
  return granted.toLowerCase() === resource.toLowerCase();
}
