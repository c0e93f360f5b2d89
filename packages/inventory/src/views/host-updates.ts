import type { XapiRecord } from "../store/record-rows.js";
import type { ViewLinks, ViewObject } from "./view.js";
import { toWholeSeconds } from "./values/instant.js";
import { toInteger } from "./values/integer.js";
import { isFilled, toList, toTextList } from "./values/lists.js";
import { toTextMap } from "./values/maps.js";
import { memberOf, toNonEmptyText, toText } from "./values/plain.js";
import { put } from "./values/put.js";

/**
 * Whether the host has to reboot for its updates. XenServer 8 reports it as a guidance, older ones list the updates. XCP-ng
 * reports neither; there the last package installation is compared with the boot time.
 */
export function needsReboot(record: XapiRecord): boolean {
  const brand = memberOf(record.software_version, "product_brand");
  if (brand !== "XCP-ng")
    return (
      isFilled(record.updates_requiring_reboot) ||
      toTextList(record.pending_guidances).includes("reboot_host")
    );
  const booted = toWholeSeconds(memberOf(record.other_config, "boot_time"));
  const installed = toWholeSeconds(
    memberOf(record.other_config, "rpm_patch_installation_time"),
  );
  return booted !== undefined && installed !== undefined && booted < installed;
}

/**
 * Supplemental packs: since 7.1 they are pool updates, before they are in
 * `software_version`.
 */
export function readSupplementalPacks(
  record: XapiRecord,
  links: ViewLinks,
): ViewObject[] {
  const packs: ViewObject[] = [];
  for (const ref of toList(record.updates)) {
    const update = links.record("pool_update", ref);
    if (update !== undefined) packs.push(toUpdatePack(update));
  }
  return packs.length > 0 ? packs : readPacks(record.software_version);
}

function toUpdatePack(update: XapiRecord): ViewObject {
  const pack: ViewObject = {
    name: toText(update.name_label),
    description: toText(update.name_description),
    version: toText(update.version),
    guidance: toTextList(update.after_apply_guidance),
  };
  put(pack, "size", toInteger(update.installation_size));
  return pack;
}

/**
 * Parses entries like `"xs:main": "XenServer Pack, version 7.0.0, build
 * 125380c"`: the key is author and name.
 */
function readPacks(software: unknown): ViewObject[] {
  const packs: ViewObject[] = [];
  for (const [key, text] of Object.entries(toTextMap(software))) {
    const colon = key.indexOf(":");
    if (colon <= 0) continue;
    const [description, ...details] = text.split(", ", 8);
    const pack: ViewObject = {
      author: key.slice(0, colon),
      name: key.slice(colon + 1),
      description: description ?? "",
    };
    const version = details.find((detail) => detail.startsWith("version "));
    put(pack, "version", toNonEmptyText(version?.slice("version ".length)));
    packs.push(pack);
  }
  return packs;
}
