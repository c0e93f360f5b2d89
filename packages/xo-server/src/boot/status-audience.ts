import type { AuthenticatedUser } from "../auth/authenticated-user.js";
import type { Client } from "../auth/client.js";
import type { Status } from "../status/status.js";
import {
  anonymous,
  everything,
  readersOf,
  type Audience,
} from "../status/visible-status.js";

/** A caller, or the client of a subscription. */
export interface StatusReader {
  readonly client: Client;
  readonly user?: AuthenticatedUser | undefined;
}

export interface AudienceOptions {
  /** Anonymous clients of the demo read everything. */
  readonly demo: boolean;
  /**
   * Which pools a caller may read, by UUID; undefined: all.
   * @returns a function that uses the rights of now
   */
  readonly readablePools: (
    reader: StatusReader,
  ) => ((uuid: string) => boolean) | undefined;
}

/** Finds what a client may read of the status, by its rights of now. */
export function createAudiences({ demo, readablePools }: AudienceOptions) {
  return (reader: StatusReader, { pools }: Status): Audience => {
    const { client, user } = reader;
    if (client.session === undefined && user === undefined)
      return demo ? everything : anonymous;
    const isReadable = readablePools(reader);
    if (isReadable === undefined) return everything;
    const uuids = Object.values(pools).flatMap(({ pool }) => pool ?? []);
    return readersOf(uuids.filter(isReadable));
  };
}
