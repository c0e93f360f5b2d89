import { datamodel } from "@xo-server/model";

const READING_KINDS = new Set([
  "field getter",
  "get_by_uuid",
  "get_record",
  "get_all",
  "get_all_where",
  "get_all_records",
  "get_all_records_where",
  "get_by_name_label",
]);

/** Names of custom methods that only read. */
const READING_NAME =
  /^(get|is|has|list|query|assert|compute|retrieve|ha_compute)(_|$)/;

/** Allowed although not read-only in the data model: they do not change the pool, and the mirror needs them. */
const READING_CALLS = new Set([
  "event.from",
  "event.next",
  "event.register",
  "event.unregister",
  "event.get_current_id",
  "event.inject",
  "session.login_with_password",
  "session.slave_local_login_with_password",
  "session.logout",
  "system.listMethods",
]);

/**
 * Is the method read-only? Decided by the data model, or by the name for methods
 * that only a newer XAPI has. Such calls are allowed in read-only mode and are
 * idempotent.
 */
export function isReadingMethod(method: string): boolean {
  if (READING_CALLS.has(method)) return true;
  const [className = "", message = ""] = method.split(".");
  if (className === "Async" || message === "") return false;
  const messages = datamodel.classes[className]?.messages;
  const kind =
    messages !== undefined && Object.hasOwn(messages, message)
      ? messages[message]!.kind
      : "custom";
  return (
    READING_KINDS.has(kind) || (kind === "custom" && READING_NAME.test(message))
  );
}
