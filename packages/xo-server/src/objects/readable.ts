import type { Predicate } from "@xo-server/inventory";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import { noClient, type Client } from "../auth/sessions/client.js";
import type { Extent } from "../rights/rights.js";

/**
 * The objects of a type that a caller may read; undefined: all. Equal rights give
 * the same predicate.
 */
export type Readable = (type: string) => Predicate | undefined;

interface Reader {
  readonly client: Client;
  readonly user?: AuthenticatedUser | undefined;
}

/**
 * Each call of the result uses the rights that the caller has at that time.
 * Anonymous callers, which only exist in the demo, may read all objects.
 */
export function readableTo({ client, user }: Reader): Readable {
  if (client === noClient && user !== undefined)
    return (type) => toPredicate(user.rights.extent("read", type));
  return (type) => {
    const { session } = client;
    if (session === undefined) return user === undefined ? undefined : nothing;
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
