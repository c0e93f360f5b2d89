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

/** Custom messages whose name says that they only look. */
const READING_NAME =
  /^(get|is|has|list|query|assert|compute|retrieve|ha_compute)(_|$)/;

/** They touch a row at most; without them no pool can be watched. */
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
 * Does the method leave the pool as it is? By the data model where it knows the
 * method, by its name where a newer pool has it. Such calls pass in read-only
 * mode and may be repeated without harm.
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
