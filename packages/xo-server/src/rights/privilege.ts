/** What roles are made of: one thing that may, or may not, be done to some objects. */
export interface Privilege {
  readonly effect: "allow" | "deny";
  /** A type of objects such as `VM`; `*`: all of pools. People must be named: see `people`. */
  readonly resource: string;
  /** Such as `read` or `operate:start`; `operate` means all that begin so, `*` all. */
  readonly action: string;
  /** Only objects that match, in the filter language; absent: all of the resource. */
  readonly selector?: string;
}

/** Whether a privilege for `granted` covers `action`. */
export function coversAction(granted: string, action: string): boolean {
  return (
    granted === "*" || granted === action || action.startsWith(`${granted}:`)
  );
}

/** Who there is, and what they may do, is not told by a privilege for all objects. */
const accountResources: ReadonlySet<string> = new Set([
  "user",
  "group",
  "acl-role",
  "acl-privilege",
]);

/** Case is ignored: other tools write `vm` where objects say `VM`. */
export function coversResource(granted: string, resource: string): boolean {
  if (granted === "*") return !accountResources.has(resource);
  return granted.toLowerCase() === resource.toLowerCase();
}
