import type { Predicate } from "@xo-server/inventory";
import { nobody } from "../operations/on-behalf.js";
import type { CallContext } from "../operations/operation.js";
import type { Extent } from "../rights/rights.js";

/** What somebody may see of a type of objects, now; undefined: everything. Equal rights give the same predicate. */
export type Readable = (type: string) => Predicate | undefined;

/**
 * Asked again, it tells of the rights of then. Whoever has not signed in, and
 * got here nevertheless, is in the demo and sees everything, until they sign in.
 */
export function readableTo({ client, user: person }: CallContext): Readable {
  if (client === nobody && person !== undefined)
    return (type) => toPredicate(person.rights.extent("read", type));
  return (type) => {
    const { session } = client;
    if (session === undefined)
      return person === undefined ? undefined : nothing;
    const rights = session.user()?.rights;
    return rights === undefined
      ? nothing
      : toPredicate(rights.extent("read", type));
  };
}

const nothing: Predicate = () => false;

function toPredicate(extent: Extent): Predicate | undefined {
  if (extent === "all") return undefined;
  return extent === "none" ? nothing : extent;
}
