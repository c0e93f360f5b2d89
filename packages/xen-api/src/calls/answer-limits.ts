import { datamodel } from "@xo-server/model";
import { isReadingMethod } from "./method-policy.js";
import { visibleResult } from "./visible-result.js";

/** Reads of what XAPI has in memory begin to be answered within this time, in ms. */
const READ_MS = 20_000;
/**
 * For lists of all objects of a class, which XAPI writes completely before it sends
 * them, and for data that it must request from hosts; in ms.
 */
const LIST_MS = 60_000;
/** Actions whose result can be read, and writes of one field, are answered within this time, in ms. */
const WRITE_MS = 30_000;
/** Starts of tasks are answered within this time, in ms; most that are lost are found sooner, by their marks. */
const START_MS = 60_000;
/** Other actions, and what XAPI computes or reads from disks, are answered within this time, in ms. */
const ACT_MS = 120_000;

/** Exports and consoles begin to be answered within this time, in ms. The body after the head has no limit here. */
export const STREAM_MS = 120_000;

/**
 * Reads of data that XAPI does not have in memory: plans for failures of hosts,
 * contents of disks and of storage.
 */
const SLOW_READS =
  /^(pool\.ha_compute_|VDI\.list_changed_blocks$|SR\.(assert|get_data|list)_|VM\.retrieve_|host\.retrieve_)/;

/** By the kind of the message in the data model. */
const LIMITS: ReadonlyMap<string, number> = new Map([
  ["field getter", READ_MS],
  ["get_record", READ_MS],
  ["get_by_uuid", READ_MS],
  ["get_by_name_label", READ_MS],
  ["get_all", READ_MS],
  ["get_all_where", LIST_MS],
  ["get_all_records", LIST_MS],
  ["get_all_records_where", LIST_MS],
  ["field setter", WRITE_MS],
  ["field add_to", WRITE_MS],
  ["field remove_from", WRITE_MS],
]);

/**
 * Time after which an answer that has not begun to arrive counts as lost, in ms: a firewall, for
 * example, may have dropped the connection without either end noticing.
 * @param params without the session
 */
export function answerLimitMs(
  method: string,
  params: readonly unknown[],
): number {
  if (method === "event.inject") return READ_MS;
  const [className = "", message = ""] = method.split(".");
  if (className === "Async") return START_MS;
  const messages = datamodel.classes[className]?.messages;
  const limit =
    messages !== undefined && Object.hasOwn(messages, message)
      ? LIMITS.get(messages[message]!.kind)
      : undefined;
  if (limit !== undefined) return limit;
  if (SLOW_READS.test(method)) return ACT_MS;
  if (isReadingMethod(method)) return LIST_MS;
  return visibleResult(method, params) === undefined ? ACT_MS : WRITE_MS;
}
