import { fieldProperty } from "./field-property.js";
import type { View, ViewObject, ViewSource } from "./view.js";
import { toSeconds } from "./values/instant.js";
import { toNonEmptyText, toText } from "./values/plain.js";
import { put } from "./values/put.js";

/**
 * Messages of XAPI. Alarms are messages, too; the REST API distinguishes them
 * by name.
 */
export const messageView: View = {
  className: "message",
  types: ["message"],
  typeOf: () => "message",
  build,
  reads: {},
  properties: {
    name: fieldProperty("name", toText),
    time: fieldProperty("timestamp", toSeconds),
    $object: fieldProperty("obj_uuid", toNonEmptyText),
  },
  searched: ["id", "name"],
};

function build({ record }: ViewSource): ViewObject {
  const view: ViewObject = {
    body: toText(record.body),
    name: toText(record.name),
  };
  put(view, "time", toSeconds(record.timestamp));
  // Already a UUID; the object may no longer exist.
  put(view, "$object", toNonEmptyText(record.obj_uuid));
  return view;
}
