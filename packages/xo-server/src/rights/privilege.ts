/** What roles are made of: one thing that may, or may not, be done to some objects. */
export interface Privilege {
  readonly effect: "allow" | "deny";
  /** A type of objects such as `VM` or `user`; `*`: all. */
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

/** Case is ignored: other tools write `vm` where objects say `VM`. */
export function coversResource(granted: string, resource: string): boolean {
  return granted === "*" || granted.toLowerCase() === resource.toLowerCase();
}
