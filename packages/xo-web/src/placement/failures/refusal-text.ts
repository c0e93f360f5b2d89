import { errorMessage } from "../../actions/plan/error-message.js";
import { RpcError } from "../../api/rpc-error.js";
import type { Messages } from "../../locale/messages.js";

/** Why the server refused a request; undefined: it did not, or the connection is lost, which a banner reports. */
export function refusalText(
  failure: unknown,
  text: Messages,
): string | undefined {
  return failure instanceof RpcError ? errorMessage(failure, text) : undefined;
}
