import type { View, ViewObject, ViewSource } from "./view.js";
import { toSeconds } from "./values/instant.js";
import { toInteger } from "./values/integer.js";
import { toTextList } from "./values/lists.js";
import { toFlag, toText } from "./values/plain.js";
import { put } from "./values/put.js";

/** A patch applied to a host, in pools before 7.1. */
export const hostPatchView: View = {
  className: "host_patch",
  types: ["patch"],
  typeOf: () => "patch",
  build: buildHostPatch,
  reads: {
    pool_patch: [
      "name_label",
      "name_description",
      "after_apply_guidance",
      "size",
    ],
  },
  searched: ["id", "name", "description"],
};

/** A patch uploaded to a pool, before 7.1. */
export const poolPatchView: View = {
  className: "pool_patch",
  types: ["pool_patch"],
  typeOf: () => "pool_patch",
  // The same patch has the same uuid in every pool.
  idOf: ({ ref }) => ref,
  build: buildPoolPatch,
  reads: {},
  searched: ["id", "name", "description"],
};

function buildHostPatch({ record, links }: ViewSource): ViewObject {
  const patch = links.record("pool_patch", record.pool_patch);
  const view: ViewObject = {
    applied: toFlag(record.applied),
    name: toText(patch?.name_label ?? record.name_label),
    description: toText(patch?.name_description ?? record.name_description),
    guidance: toTextList(patch?.after_apply_guidance),
  };
  put(view, "size", toInteger(patch?.size ?? record.size));
  put(view, "time", toSeconds(record.timestamp_applied));
  put(view, "$host", links.id("host", record.host));
  put(view, "pool_patch", links.id("pool_patch", record.pool_patch));
  return view;
}

function buildPoolPatch({ record, links }: ViewSource): ViewObject {
  const view: ViewObject = {
    applied: toFlag(record.pool_applied),
    name: toText(record.name_label),
    description: toText(record.name_description),
    guidance: toTextList(record.after_apply_guidance),
    $host_patches: links.ids("host_patch", record.host_patches),
  };
  put(view, "size", toInteger(record.size));
  return view;
}
