import { RpcError } from "../api/rpc-error.js";
import type { Messages } from "../locale/messages.js";

/** Why a call failed: the message of the server, or that it cannot be reached. */
export function reasonOf(error: unknown, text: Messages): string {
  return error instanceof RpcError ? error.message : text.ui.lost;
}
