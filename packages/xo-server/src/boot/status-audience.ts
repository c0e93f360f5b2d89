import type { Predicate } from "@xo-server/inventory";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import type { Client } from "../auth/sessions/client.js";
import type { Status } from "../status/status.js";
import {
  anonymous,
  everything,
  readersOf,
  type Audience,
} from "../status/visible-status.js";

/** The caller of a request, or the client of a subscription. */
interface StatusReader {
  readonly client: Client;
  readonly user?: AuthenticatedUser | undefined;
}

interface AudienceOptions {
  /** Whether anonymous clients read everything, as in a demo. */
  readonly demo: boolean;
  /**
   * Which pools a caller may read with its current rights; the same function for
   * equal rights. Undefined: all pools.
   */
  readonly readablePools: (reader: StatusReader) => Predicate | undefined;
  /** Whether the pool with this UUID is readable now. */
  readonly matches: (uuid: string, isReadable: Predicate) => boolean;
}

/**
 * Determines which parts of the status a client may read with its current rights.
 * Readers with equal rights share one pass over the pools for each status.
 */
export function createAudiences({
  demo,
  readablePools,
  matches,
}: AudienceOptions) {
  let last:
    | undefined
    | { readonly status: Status; readonly found: Map<Predicate, Audience> };

  function audienceOf(isReadable: Predicate, status: Status): Audience {
    if (last?.status !== status) last = { status, found: new Map() };
    let audience = last.found.get(isReadable);
    if (audience === undefined) {
      const uuids = Object.values(status.pools)
        .flatMap(({ pool }) => pool ?? [])
        .filter((uuid) => matches(uuid, isReadable));
      audience = readersOf(uuids);
      last.found.set(isReadable, audience);
    }
    return audience;
  }

  return (reader: StatusReader, status: Status): Audience => {
    const { client, user } = reader;
    if (client.session === undefined && user === undefined)
      return demo ? everything : anonymous;
    const isReadable = readablePools(reader);
    return isReadable === undefined
      ? everything
      : audienceOf(isReadable, status);
  };
}
