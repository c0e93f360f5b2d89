import { NotConnectedError, RpcError } from "../../api/rpc-error.js";
import { backupFailure } from "../../backup/failure-text.js";
import { fill, type Messages } from "../../locale/messages.js";
import { evacuationRefusal } from "./evacuation-refusal.js";

/** Text of an error, with advice; the message of the server if there is no text. */
export function errorMessage(error: unknown, text: Messages): string {
  const { errors } = text.actions;
  if (error instanceof NotConnectedError) return errors.notConnected;
  if (!(error instanceof RpcError)) return errors.lost;
  const code = codeOf(error);
  if (error.code === 2) return errors.forbidden;
  if (code === "VMS_CANNOT_LEAVE") return evacuationRefusal(error, text);
  const backup = backupFailure(code, error.data, text);
  if (backup !== undefined) return backup;
  const state = powerStateOf(code, error.message, text);
  if (state !== undefined) return state;
  const known = messageOf(code, text);
  if (known === undefined) return reasonOf(error);
  return fill(known, { reason: error.message });
}

/** Message of an error that was sent as data, such as those of a task or a bulk operation. */
export function failureMessage(
  { code, message, data }: Failure,
  text: Messages,
): string {
  if (code === "VMS_CANNOT_LEAVE")
    return evacuationRefusal({ message, data }, text);
  if (code === "SOME_FAILED") return someFailed({ message, data }, text);
  const backup = backupFailure(code, data, text);
  if (backup !== undefined) return backup;
  const state = powerStateOf(code, message, text);
  if (state !== undefined) return state;
  const known = messageOf(code, text);
  return known === undefined
    ? reasonOf({ message, data })
    : fill(known, { reason: message });
}

/** `The VM is running`: the server's text names the state, or it is the last parameter of XAPI's error. */
function powerStateOf(
  code: string | undefined,
  message: string,
  text: Messages,
): string | undefined {
  const [, state = ""] =
    code === "VM_BAD_POWER_STATE"
      ? (/^VM state is (\w+) /.exec(message) ??
        /, (\w+)\)$/.exec(message) ??
        [])
      : [];
  const { state: states } = text.actions.reasons;
  return Object.entries(states).find(
    ([name]) => name.toLowerCase() === state.toLowerCase(),
  )?.[1];
}

/** How many have failed and why; the task or toast names the operation. */
function someFailed(
  { message, data }: Pick<Failure, "message" | "data">,
  text: Messages,
): string {
  const { failed, total, reasons, result } = (data ?? {}) as Readonly<
    Record<string, unknown>
  >;
  if (
    typeof failed !== "number" ||
    typeof total !== "number" ||
    typeof reasons !== "string"
  )
    return message;
  return fill(text.actions.errors.someFailed, {
    failed,
    total,
    reasons: bulkReasons(result, failed, text) ?? reasons,
  });
}

/** Failures of a bulk operation that are named. */
const MAX_NAMED = 5;

/**
 * The first failures of a bulk operation: `web-1, web-2: No host can run the VM`
 * @param count of all failures
 * @returns undefined: the result is not that of a bulk operation
 */
function bulkReasons(
  result: unknown,
  count: number,
  text: Messages,
): string | undefined {
  const { failed } = (result ?? {}) as {
    readonly failed?: readonly {
      readonly id: string;
      readonly name?: string;
      readonly error: Failure;
    }[];
  };
  if (failed === undefined || failed.length === 0) return undefined;
  const namesByReason = new Map<string, string[]>();
  for (const { id, name = id, error } of failed.slice(0, MAX_NAMED)) {
    const reason = failureMessage(error, text).replace(/\.$/, "");
    namesByReason.set(reason, [...(namesByReason.get(reason) ?? []), name]);
  }
  const left = count - Math.min(failed.length, MAX_NAMED);
  return [
    ...Array.from(
      namesByReason,
      ([reason, names]) => `${names.join(", ")}: ${reason}`,
    ),
    ...(left > 0 ? [fill(text.actions.failuresLeftOut, { n: left })] : []),
  ].join("; ");
}

/**
 * Clients of Xen Orchestra know the message "invalid parameters"; the parameter and
 * the reason are in the data.
 */
function reasonOf({
  message,
  data,
}: Pick<Failure, "message" | "data">): string {
  if (typeof data !== "object" || data === null) return message;
  const { code, reason } = data as Readonly<Record<string, unknown>>;
  return code === "INVALID_PARAMETERS" && typeof reason === "string"
    ? reason
    : message;
}

interface Failure {
  readonly code?: string;
  readonly message: string;
  readonly data?: unknown;
}

function codeOf({ data }: RpcError): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { code } = data as { readonly code?: unknown };
  return typeof code === "string" ? code : undefined;
}

type Known = keyof Messages["actions"]["errors"];

const messages: Readonly<Record<string, Known>> = {
  FORBIDDEN: "forbidden",
  NO_SUCH_OBJECT: "gone",
  HANDLE_INVALID: "gone",
  OTHER_OPERATION_IN_PROGRESS: "busy",
  VM_BAD_POWER_STATE: "state",
  INCORRECT_STATE: "state",
  HOST_NOT_ENOUGH_FREE_MEMORY: "noMemory",
  NO_HOSTS_AVAILABLE: "noHost",
  SR_FULL: "noSpace",
  PIF_ALREADY_BONDED: "alreadyBonded",
  HA_IS_ENABLED: "haEnabled",
  PIF_NOT_PRESENT: "noPif",
  PIF_HAS_NO_NETWORK_CONFIGURATION: "noPifAddress",
  SERVER_CERTIFICATE_KEY_MISMATCH: "keyMismatch",
  MEMORY_CONSTRAINT_VIOLATION_ORDER: "memoryOrder",
  VM_IS_SNAPSHOT: "snapshot",
  VM_MISSING_PV_DRIVERS: "noTools",
  PV_DRIVERS_MISSING: "noTools",
  VM_LACKS_FEATURE: "noTools",
  VM_FAILED_SHUTDOWN_ACKNOWLEDGMENT: "noTools",
};

function messageOf(code = "", text: Messages): string | undefined {
  const known = Object.hasOwn(messages, code) ? messages[code] : undefined;
  return known === undefined ? undefined : text.actions.errors[known];
}
