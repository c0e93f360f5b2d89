import { backgroundWallClock, type WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import {
  limits,
  type AuditEntry,
  type PendingChange,
  type Store,
} from "@xo-server/store";
import {
  MAX_DEPTH,
  maskSecretMember,
  redact,
  REDACTED,
} from "../log/redact.js";
import type { AuditedCall, AuditedChange, Outcome } from "./audited-call.js";
import { RefusalLog } from "./refusal-log.js";
import { WaitingChanges } from "./waiting-changes.js";

export type { AuditedCall, AuditedChange, Outcome } from "./audited-call.js";

/** Records changes in the audit log: operation, user, address and outcome. */
export interface Audit {
  /**
   * To be called before a change: nothing is changed without an audit log.
   * @throws XoError STORE_UNAVAILABLE
   */
  check(): void;
  /** Resolves when `check` would succeed, or the signal is aborted. */
  untilWritable(signal: AbortSignal): Promise<void>;
  /**
   * To be called before a change; records its begin.
   * @throws XoError STORE_UNAVAILABLE, TOO_MANY_REQUESTS: the change must not be made
   */
  begin(call: AuditedChange): Promise<BegunChange>;
  /**
   * Records a change that was not started. Never rejects, like the function that
   * `begin` returns.
   */
  write(call: AuditedCall): Promise<void>;
  /**
   * Records a call that was rejected because of a missing right. Such calls are
   * grouped by user, operation and minute.
   */
  refuse(call: AuditedChange, error: Error): void;
  /** Resolves when the grouped rejections are written. */
  stop(): Promise<void>;
}

/** A change whose begin is recorded. Its functions never reject, because the change is under way or done. */
interface BegunChange {
  /** Records the task that the change has started. */
  readonly noteTask: (taskId: string) => Promise<void>;
  /**
   * Records the outcome: an entry that cannot be written now is written later. Of calls
   * that end with a rejection many are counted in one entry, see `RefusalLog.isCounted`.
   */
  readonly end: (outcome: Outcome) => Promise<void>;
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
  const waiting = new WaitingChanges();
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
      let change = toChange(call);
      const { user, waitsForStore = false } = call.context;
      const begin = () => store.auditChanges.begin(owner, change);
      // Tasks have limits of their own.
      const id =
        user === undefined || waitsForStore
          ? await begin()
          : await waiting.run(user.id, begin);
      // Calls of a task whose lease is lost may never settle: another server continues it, or this one later.
      const lost = call.context.task?.lease?.signal;
      const onLost = () => void store.auditChanges.interrupt(id, change);
      lost?.addEventListener("abort", onLost, { once: true });
      if (lost?.aborted === true) onLost();
      return {
        async noteTask(taskId) {
          change = { taskId, ...change };
          await store.auditChanges.update(id, change);
        },
        async end(outcome) {
          lost?.removeEventListener("abort", onLost);
          const isCounted =
            "error" in outcome && refusals.isCounted(call, outcome.error);
          if (isCounted && (await store.auditChanges.cancel(id))) return;
          const ended = toEntry(change, { ...call, outcome });
          await store.auditChanges.end(id, ended);
        },
      };
    },
    write,
    refuse: (call, error) => refusals.add(call, error),
    stop: () => refusals.stop(),
  };
}

/**
 * Masked in addition to what logs mask: codes of second factors, and texts that may
 * contain passwords, such as configurations of guests and addresses of proxies.
 */
const SECRET_PARAMETER =
  /^(otp|recoveryKey|cloud_?config|network_?config|xenStoreData|httpProxy|configuration)$/i;

function toChange({
  operation,
  params,
  context,
}: AuditedChange): PendingChange {
  const { user, address } = context;
  const objectId = objectIdOf(operation, params);
  const taskId = context.task?.taskId;
  return {
    ...(taskId === undefined ? {} : { taskId }),
    ...(user === undefined ? {} : { userId: user.id }),
    ...(user === undefined ? {} : { userName: user.name }),
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
    change.taskId ??
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
    // The parameters of a rejected call were not validated.
    return undefined;
  }
}

/** Parameters without secrets, to show and to store. */
export function withoutSecrets(params: object): object {
  return redact(params, 0, maskParameter) as object;
}

/**
 * Parameters without secrets, for the audit log and tasks. Parameters that are too
 * large for the audit log are not read to the end, because a message may have
 * megabytes.
 */
export function shownParameters(params: object): object {
  const limit = limits.auditParametersBytes;
  return isLonger(params, limit)
    ? { leftOut: `more than ${limit} bytes` }
    : withoutSecrets(params);
}

/**
 * Whether the parameters without secrets are longer than `limit` characters. Their
 * length is less than the size of the JSON.
 */
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
      if (isList || maskParameter(key, member) === undefined)
        count(member, depth + 1);
    }
  };
  count(params, 0);
  return left < 0;
}

function maskParameter(key: string, value: unknown): unknown {
  if (SECRET_PARAMETER.test(key) || isGuestText(key, value)) return REDACTED;
  return maskSecretMember(key, value) ?? maskWebHooks(key, value);
}

/** Who knows the path of a webhook may send messages to it. */
function maskWebHooks(key: string, value: unknown): unknown {
  if (key === "webHooks" && Array.isArray(value)) return value.map(originOf);
  if (key !== "url" || typeof value !== "string") return undefined;
  return /^https?:/i.test(value) ? originOf(value) : undefined;
}

function originOf(url: unknown): string {
  if (typeof url !== "string" || !URL.canParse(url)) return REDACTED;
  return `${new URL(url).origin}/${REDACTED}`;
}

/** The configuration of a guest or a template of it, not the id of a VM template or an object. */
function isGuestText(key: string, value: unknown): boolean {
  if (typeof value !== "string") return false;
  if (key === "config") return true;
  return key === "template" && !/^(OpaqueRef:)?[\w-]{1,64}$/.test(value);
}

function textMember(value: unknown, name: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const member = Reflect.get(value, name) as unknown;
  return typeof member === "string" ? member : undefined;
}

function codeOf(error: Error): string {
  return textMember(error, "code") ?? "INTERNAL";
}
