import { isObject } from "@xo-server/kit";
import type { Messages } from "../../locale/messages.js";
import { fill } from "../../locale/messages.js";
import type { ObjectRow } from "../../api/object-row.js";
import type { PowerState } from "../../objects/vm.js";
import { textOf } from "../plan/text-of.js";

type Reason = string | undefined;

/** The object must be in one of these states. A state that the row does not contain is not checked. */
export function unlessState(
  vm: ObjectRow,
  text: Messages,
  ...states: readonly PowerState[]
): Reason {
  const state = vm["power_state"] as PowerState | undefined;
  if (state === undefined || states.includes(state)) return undefined;
  return text.actions.reasons.state[state];
}

/**
 * An administrator has blocked the operation, or it is in progress already.
 * @param operation as XAPI calls it, such as `clean_shutdown`
 */
export function blocked(
  vm: ObjectRow,
  text: Messages,
  operation: string,
): Reason {
  const blocks = vm["blockedOperations"];
  if (isObject(blocks) && Object.hasOwn(blocks, operation)) {
    const reason = textOf(blocks[operation]);
    const hasReason = reason !== "" && reason !== "true";
    return hasReason
      ? fill(text.actions.reasons.blockedFor, { reason })
      : text.actions.reasons.blocked;
  }
  const running = vm["current_operations"];
  const isRunning =
    isObject(running) && Object.values(running).includes(operation);
  return isRunning ? text.actions.reasons.inProgress : undefined;
}

/** The guest must take part (clean shutdown, hot plug), and no guest tools run in it. */
export function withoutTools(vm: ObjectRow, text: Messages): Reason {
  return vm["xenTools"] === false ? text.actions.reasons.noTools : undefined;
}
