import { readRawOperations } from "./operations.js";
import type { View, ViewObject, ViewSource } from "./view.js";
import { toSeconds } from "./values/instant.js";
import { toNumber } from "./values/integer.js";
import { toTextList } from "./values/lists.js";
import { memberOf, toNonEmptyText, toText } from "./values/plain.js";
import { put } from "./values/put.js";

/** A XAPI task. */
export const taskView: View = {
  className: "task",
  types: ["task"],
  typeOf: () => "task",
  build,
  reads: {},
  searched: ["id", "name_label", "name_description"],
};

function build({ ref, record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    name_label: toText(record.name_label),
    name_description: toText(record.name_description),
    allowedOperations: toTextList(record.allowed_operations),
    current_operations: readRawOperations(record.current_operations),
    progress: toNumber(record.progress) ?? 0,
    result: toText(record.result),
    status: toText(record.status),
    xapiRef: ref,
  };
  put(view, "created", toSeconds(record.created));
  put(view, "finished", toSeconds(record.finished));
  put(view, "$host", links.id("host", record.resident_on));
  // Set by the client that created the task; passed on unchanged.
  put(
    view,
    "applies_to",
    toNonEmptyText(memberOf(record.other_config, "applies_to")),
  );
  return view;
}
