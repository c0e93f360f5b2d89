import { PeerMessages, type PeerRequestBase } from "../peers/peer-messages.js";

/** Path of the question whether a server reaches the database, which is sealed in its header Authorization. */
export const ISOLATION_PATH = "/cluster/database";
/** Header of the response with the sealed answer. */
export const ISOLATION_HEADER = "xo-database";

interface DatabaseAnswer {
  /** A query was answered just now. */
  readonly isAvailable: boolean;
}

/** Questions whether a server reaches the database, and their answers. */
export class IsolationMessages extends PeerMessages<
  PeerRequestBase,
  DatabaseAnswer
> {
  constructor(
    store: ConstructorParameters<typeof PeerMessages>[0],
    clock: ConstructorParameters<typeof PeerMessages>[1],
  ) {
    super(store, clock, "state of the database");
  }
}
