import { errorMessage } from "../../actions/plan/error-message.js";
import { RpcError } from "../../api/rpc-error.js";
import type { Messages } from "../../locale/messages.js";

/** Why the server does not answer a question; undefined: it does, or it is gone, which the page says anyway. */
export function refusalText(
  failure: unknown,
  text: Messages,
): string | undefined {
  return failure instanceof RpcError ? errorMessage(failure, text) : undefined;
}
