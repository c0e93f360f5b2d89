import { XoError } from "@xo-server/model";
import type { AuditEntry, BegunChange, Store } from "@xo-server/store";
import { redact } from "../log/redact.js";
import type { CallContext, Operation } from "./operation.js";

/** Records changes in the audit log: what, by whom, from where, with which outcome. */
export interface Audit {
  /**
   * Called before a change: without audit log nothing is changed. @throws
   * XoError STORE_UNAVAILABLE
   */
  check(): void;
  /**
   * Called before a change: it is recorded that the change begins.
   * @returns to be called with the outcome. It never rejects, as the change is
   * done: an entry that cannot be written now is written later
   * @throws XoError STORE_UNAVAILABLE: the change must not be made
   */
  begin(call: AuditedChange): Promise<(outcome: Outcome) => Promise<void>>;
  /** Records what was not begun. Never rejects, as `begin`. */
  write(call: AuditedCall): Promise<void>;
}

export interface AuditedChange {
  readonly operation: Pick<Operation, "name" | "permission">;
  readonly params: object;
  readonly context: CallContext;
}

export type Outcome = AuditedCall["outcome"];

export interface AuditedCall extends AuditedChange {
  readonly outcome: { readonly result: unknown } | { readonly error: Error };
}

export function createAudit(
  store: Pick<Store, "auditChanges" | "state">,
  /** See toOwnerId. */
  owner: string,
): Audit {
  return {
    check() {
      if (store.state === "unavailable")
        throw new XoError("STORE_UNAVAILABLE", {
          reason: "the audit log cannot be written",
        });
    },
    async begin(call) {
      const id = await store.auditChanges.begin(owner, toChange(call));
      return async (outcome) => {
        await store.auditChanges.end(id, toEntry({ ...call, outcome }));
      };
    },
    async write(call) {
      await store.auditChanges.end(undefined, toEntry(call));
    },
  };
}

/** Besides what logs leave out: codes of second factors, and what may have passwords in it: configurations of guests, addresses of proxies. */
const SECRET_PARAMETER =
  /^(otp|cloud_?config|network_?config|xenStoreData|httpProxy|configuration)$/i;

function toChange({ operation, params, context }: AuditedChange): BegunChange {
  const { user: person, address } = context;
  const objectId = objectIdOf(operation, params);
  return {
    ...(person === undefined ? {} : { userId: person.id }),
    ...(person === undefined ? {} : { userName: person.name }),
    address,
    operation: operation.name,
    ...(objectId === undefined ? {} : { objectId }),
    parameters: withoutSecrets(params),
  };
}

function toEntry({ outcome, ...call }: AuditedCall): AuditEntry {
  const taskId =
    call.context.task?.taskId ??
    ("result" in outcome ? textMember(outcome.result, "taskId") : undefined);
  return {
    ...toChange(call),
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
  return typeof permission === "object"
    ? permission.id(params as never)
    : textMember(params, "id");
}

/** As it may be shown and kept. */
export function withoutSecrets(params: object): object {
  const members = Object.entries(params).map(([key, value]) => [
    key,
    SECRET_PARAMETER.test(key) || isText(key, value)
      ? "[redacted]"
      : ofAnother(key, value),
  ]);
  return redact(Object.fromEntries(members)) as object;
}

/** What an operation passes on to another. */
function ofAnother(key: string, value: unknown): unknown {
  const isOne = key === "params" && typeof value === "object" && value !== null;
  return isOne && !Array.isArray(value) ? withoutSecrets(value) : value;
}

/** A template of a guest's configuration, not the id of one. */
function isText(key: string, value: unknown): boolean {
  return key === "template" && typeof value === "string" && /\n/.test(value);
}

function textMember(value: unknown, name: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const member = Reflect.get(value, name) as unknown;
  return typeof member === "string" ? member : undefined;
}

function codeOf(error: Error): string {
  return textMember(error, "code") ?? "INTERNAL";
}
