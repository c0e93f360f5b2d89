import type { View, ViewObject, ViewSource } from "./view.js";
import { toSeconds } from "./values/instant.js";
import { toNonEmptyText, toText } from "./values/plain.js";
import { put } from "./values/put.js";

/** CONTRACT 3.8. Alarms are messages too: REST takes them apart by name. */
export const messageView: View = {
  className: "message",
  types: ["message"],
  typeOf: () => "message",
  build,
  reads: {},
  columns: ["id", "$pool", "name", "time", "$object"],
  searched: ["id", "name"],
};

function build({ record }: ViewSource): ViewObject {
  const view: ViewObject = {
    body: toText(record.body),
    name: toText(record.name),
  };
  put(view, "time", toSeconds(record.timestamp));
  // A uuid already; the object may be gone.
  put(view, "$object", toNonEmptyText(record.obj_uuid));
  return view;
}
