import type { View, ViewObject, ViewSource } from "./view.js";
import { toTextList } from "./values/lists.js";
import { toIntegerMap, toTextMap } from "./values/maps.js";
import { toText } from "./values/plain.js";

/** A storage driver of the pool (storage manager plug-in). */
export const smView: View = {
  className: "SM",
  types: ["SM"],
  typeOf: () => "SM",
  build,
  reads: {},
  searched: ["id", "name_label", "name_description", "SM_type"],
};

function build({ record }: ViewSource): ViewObject {
  return {
    name_label: toText(record.name_label),
    name_description: toText(record.name_description),
    SM_type: toText(record.type),
    vendor: toText(record.vendor),
    // Names and descriptions of settings, without values: nothing to mask.
    configuration: toTextMap(record.configuration),
    driver_filename: toText(record.driver_filename),
    features: toIntegerMap(record.features),
    required_cluster_stack: toTextList(record.required_cluster_stack),
    supported_image_formats: toTextList(record.supported_image_formats),
  };
}
