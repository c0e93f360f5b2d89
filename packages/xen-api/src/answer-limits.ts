import { datamodel } from "@xo-server/model";

/** Reads of what XAPI has in memory begin to be answered within this time, in ms; they are sent again. */
const READ_MS = 20_000;
/** Writes of one field, and starts of tasks, are answered within this time, in ms. */
const WRITE_MS = 60_000;

/** By the kind of the message in the data model. */
const LIMITS: ReadonlyMap<string, number> = new Map([
  ["field getter", READ_MS],
  ["get_record", READ_MS],
  ["get_by_uuid", READ_MS],
  ["get_by_name_label", READ_MS],
  ["field setter", WRITE_MS],
  ["field add_to", WRITE_MS],
  ["field remove_from", WRITE_MS],
]);

/**
 * Time after which an answer that has not begun to arrive counts as lost, in ms: the connection may
 * have been forgotten on its way, by a firewall for example, so that neither end notices.
 * @returns undefined: the call may take long by itself, as most custom methods; only its own time limit ends it
 */
export function answerLimitMs(method: string): number | undefined {
  if (method === "event.inject") return READ_MS;
  const [className = "", message = ""] = method.split(".");
  if (className === "Async") return WRITE_MS;
  const messages = datamodel.classes[className]?.messages;
  return messages !== undefined && Object.hasOwn(messages, message)
    ? LIMITS.get(messages[message]!.kind)
    : undefined;
}
