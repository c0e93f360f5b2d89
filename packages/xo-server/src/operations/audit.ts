import { backgroundWallClock, type WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import {
  limits,
  type AuditEntry,
  type PendingChange,
  type Store,
} from "@xo-server/store";
import { isSecretMember, MAX_DEPTH, redact } from "../log/redact.js";
import type { AuditedCall, AuditedChange, Outcome } from "./audited-call.js";
import { RefusalLog } from "./refusal-log.js";

export type { AuditedCall, AuditedChange, Outcome } from "./audited-call.js";

/** Records changes in the audit log: operation, user, address and outcome. */
export interface Audit {
  /**
   * Called before a change: without audit log nothing is changed. @throws
   * XoError STORE_UNAVAILABLE
   */
  check(): void;
  /** Resolves when `check` would pass, or the signal is aborted. */
  untilWritable(signal: AbortSignal): Promise<void>;
  /**
   * Called before a change: it is recorded that the change begins.
   * @returns to be called with the outcome. It never rejects, as the change is
   * done: an entry that cannot be written now is written later
   * @throws XoError STORE_UNAVAILABLE: the change must not be made
   */
  begin(call: AuditedChange): Promise<(outcome: Outcome) => Promise<void>>;
  /** Records a change that was not started. Never rejects, as `begin`. */
  write(call: AuditedCall): Promise<void>;
  /** Records a call that was refused for lack of a right, coalesced per user, operation and minute. */
  refuse(call: AuditedChange, error: Error): void;
  /** Resolves when coalesced refusals are written. */
  stop(): Promise<void>;
}

/** Records changes before they are executed, and rejected calls in groups. */
export function createAudit(
  store: Pick<Store, "auditChanges" | "state" | "onState">,
  /** Name of this server. */
  owner: string,
  clock: WallClock = backgroundWallClock,
): Audit {
  const write = async (call: AuditedCall) => {
    await store.auditChanges.end(undefined, toEntry(toChange(call), call));
  };
  const refusals = new RefusalLog(write, clock);
  return {
    check() {
      if (store.state === "unavailable")
        throw new XoError("STORE_UNAVAILABLE", {
          reason: "the audit log cannot be written",
        });
    },
    async untilWritable(signal) {
      while (store.state === "unavailable" && !signal.aborted)
        await new Promise<void>((resolve) => {
          const end = () => {
            stop();
            signal.removeEventListener("abort", end);
            resolve();
          };
          const stop = store.onState(end);
          signal.addEventListener("abort", end);
        });
    },
    async begin(call) {
      const change = toChange(call);
      const id = await store.auditChanges.begin(owner, change);
      return async (outcome) => {
        const ended = toEntry(change, { ...call, outcome });
        await store.auditChanges.end(id, ended);
      };
    },
    write,
    refuse: (call, error) => refusals.add(call, error),
    stop: () => refusals.stop(),
  };
}

/** Besides what logs leave out: codes of second factors, and what may have passwords in it: configurations of guests, addresses of proxies. */
const SECRET_PARAMETER =
  /^(otp|recoveryKey|cloud_?config|network_?config|xenStoreData|httpProxy|configuration)$/i;

function toChange({
  operation,
  params,
  context,
}: AuditedChange): PendingChange {
  const { user: person, address } = context;
  const objectId = objectIdOf(operation, params);
  return {
    ...(person === undefined ? {} : { userId: person.id }),
    ...(person === undefined ? {} : { userName: person.name }),
    address,
    operation: operation.name,
    ...(objectId === undefined ? {} : { objectId }),
    parameters: shownParameters(params),
  };
}

function toEntry(
  change: PendingChange,
  { outcome, context }: AuditedCall,
): AuditEntry {
  const taskId =
    context.task?.taskId ??
    ("result" in outcome ? textMember(outcome.result, "taskId") : undefined);
  return {
    ...change,
    ...("error" in outcome
      ? { outcome: "failure", errorCode: codeOf(outcome.error) }
      : { outcome: "success" }),
    ...(taskId === undefined ? {} : { taskId }),
  };
}

function objectIdOf(
  { permission }: AuditedCall["operation"],
  params: object,
): string | undefined {
  if (typeof permission === "string") return textMember(params, "id");
  try {
    const id: unknown = permission.id(params as never);
    return typeof id === "string" ? id : undefined;
  } catch {
    // Of a refused call the parameters were not checked.
    return undefined;
  }
}

/** Parameters without secrets, to show and to store. */
export function withoutSecrets(params: object): object {
  return redact(params, 0, isSecretParameter) as object;
}

/**
 * The same for the audit log and tasks. What the audit log leaves out because of
 * its size is not read to the end: a message may have megabytes.
 */
export function shownParameters(params: object): object {
  const limit = limits.auditParametersBytes;
  return isLonger(params, limit)
    ? { leftOut: `more than ${limit} bytes` }
    : withoutSecrets(params);
}

/** Are there more characters than `limit`, without secrets? Their number is less than the bytes of the JSON. */
function isLonger(params: object, limit: number): boolean {
  let left = limit;
  const count = (value: unknown, depth: number): void => {
    left -= typeof value === "string" ? value.length : 1;
    if (typeof value !== "object" || value === null || depth >= MAX_DEPTH)
      return;
    const isList = Array.isArray(value);
    for (const key in value) {
      if (left < 0) return;
      const member = Reflect.get(value, key) as unknown;
      if (!isList) left -= key.length;
      if (isList || !isSecretParameter(key, member)) count(member, depth + 1);
    }
  };
  count(params, 0);
  return left < 0;
}

function isSecretParameter(key: string, value: unknown): boolean {
  return (
    SECRET_PARAMETER.test(key) ||
    isSecretMember(key, value) ||
    isTemplateText(key, value)
  );
}

/** A template of a guest's configuration, not the id of a VM template. */
function isTemplateText(key: string, value: unknown): boolean {
  return (
    key === "template" &&
    typeof value === "string" &&
    !/^(OpaqueRef:)?[\w-]{1,64}$/.test(value)
  );
}

function textMember(value: unknown, name: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const member = Reflect.get(value, name) as unknown;
  return typeof member === "string" ? member : undefined;
}

function codeOf(error: Error): string {
  return textMember(error, "code") ?? "INTERNAL";
}
