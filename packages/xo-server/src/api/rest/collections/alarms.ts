import type { Catalog, Filter, ViewObject } from "@xo-server/inventory";
import { collectionOf } from "./collections.js";
import { toHref } from "../routing/rest-path.js";

const ALARM_NAMES = [
  "ALARM",
  "BOND_STATUS_CHANGED",
  "MULTIPATH_PERIODIC_ALERT",
];

/** Matches messages that are alarms. */
export const isAlarmFilter: Filter = {
  kind: "property",
  name: "name",
  term: {
    kind: "regex",
    source: `^(${ALARM_NAMES.join("|")})$`,
    ignoreCase: false,
  },
};

export const isNotAlarmFilter: Filter = { kind: "not", term: isAlarmFilter };

/** Whether a message is one of those that Xen Orchestra's REST API lists as alarms. */
export function isAlarm({ name }: ViewObject): boolean {
  return typeof name === "string" && ALARM_NAMES.includes(name);
}

/** Body of an ALARM message: a value from 0 to 1, then the configuration of the variable in XML. */
const BODY =
  /^value:\s*(\d+(?:\.\d+)?)\s*config:\s*<variable>\s*<name value="([^"]*)"/;

/** A XAPI message as an alarm of Xen Orchestra's API: object with href, value in percent as a string, time in ms. */
export function toAlarm(
  { $object, body, time, ...message }: ViewObject,
  catalog: Pick<Catalog, "get">,
): ViewObject {
  return {
    ...message,
    body: toBody(body, message["name"]),
    object: toObject($object, catalog),
    ...(typeof time === "number" ? { time: time * 1000 } : {}),
  };
}

function toBody(body: unknown, name: unknown): ViewObject {
  const text = typeof body === "string" ? body : "";
  const [, share, variable] = BODY.exec(text) ?? [];
  return share === undefined
    ? { value: text, name }
    : { value: (Number(share) * 100).toFixed(1), name: variable };
}

function toObject(id: unknown, catalog: Pick<Catalog, "get">): ViewObject {
  const uuid = typeof id === "string" ? id : "";
  const type = uuid === "" ? undefined : catalog.get(uuid)?.type;
  if (type === undefined) return { type: "unknown", uuid };
  const collection = collectionOf(type);
  return collection === undefined
    ? { type, uuid }
    : { type, uuid, href: toHref(collection.name, uuid) };
}
