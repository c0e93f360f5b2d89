import type { CallContext } from "../operations/operation.js";
import type { OpenTransfer, ReceiveTransfer } from "./transfer.js";

/** Followed by the secret of the path. */
export const PATH_PREFIX = "/api/";

/** Transfer of a path, by kind. */
export interface Offers {
  readonly download: OpenTransfer;
  readonly upload: ReceiveTransfer;
}

/** The user who was offered a path. */
export type PathOwner = Pick<
  CallContext,
  "user" | "address" | "client" | "takesPathAtOnce" | "invocation"
>;
