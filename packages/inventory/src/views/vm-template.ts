import type { XapiRecord } from "../store/record-rows.js";
import type { ViewObject } from "./view.js";
import { toInteger } from "./values/integer.js";
import { hasFlag, memberOf, toNonEmptyText, toText } from "./values/plain.js";
import { put } from "./values/put.js";
import { maskText } from "./values/secret-texts.js";
import { readXmlElements, type XmlElement } from "./values/xml-elements.js";

/** Whether the template is part of the product. */
export function isDefaultTemplate(record: XapiRecord): boolean {
  return (
    record.is_default_template === true ||
    hasFlag(record.other_config, "default_template")
  );
}

/** Adds the settings of a template for new VMs. */
export function putTemplate(view: ViewObject, record: XapiRecord): void {
  const other = record.other_config;
  const info: ViewObject = {
    disks: toDisks(toText(memberOf(other, "disks"))),
    install_methods: toMethods(toText(memberOf(other, "install-methods"))),
  };
  put(info, "arch", toNonEmptyText(memberOf(other, "install-arch")));
  const repository = toNonEmptyText(memberOf(other, "install-repository"));
  put(info, "install_repository", repository && maskText(repository));
  view.isDefaultTemplate = isDefaultTemplate(record);
  view.template_info = info;
}

/** `cdrom,nfs,http`. */
function toMethods(text: string): string[] {
  return text.split(",", 64).filter((method) => method !== "");
}

function toDisks(xml: string): ViewObject[] {
  if (xml === "") return [];
  const elements = readXmlElements(xml) ?? [];
  return elements.filter(({ name }) => name === "disk").map(toDisk);
}

/** Size in bytes; SR is a UUID, or "" for the default SR of the pool. */
function toDisk({ attributes }: XmlElement): ViewObject {
  const disk: ViewObject = { bootable: attributes.get("bootable") === "true" };
  put(disk, "device", attributes.get("device"));
  put(disk, "size", toInteger(attributes.get("size")));
  put(disk, "type", attributes.get("type"));
  put(disk, "SR", attributes.get("sr"));
  return disk;
}
