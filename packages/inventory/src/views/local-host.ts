import type { XapiRecord } from "../store/record-rows.js";
import type { ViewLinks } from "./view.js";
import { firstOf, toList } from "./values/lists.js";

/**
 * The host of a local storage repository; undefined for a shared one or one
 * without a PBD.
 */
export function localHostOf(
  sr: XapiRecord,
  links: ViewLinks,
): string | undefined {
  if (sr.shared === true) return undefined;
  const pbd = links.record("PBD", firstOf(sr.PBDs));
  return pbd && links.id("host", pbd.host);
}

/**
 * The host whose local storage contains a disk of the VM: the VM can start only
 * there.
 */
export function localHostOfDisks(
  vm: XapiRecord,
  links: ViewLinks,
): string | undefined {
  for (const ref of toList(vm.VBDs)) {
    const vbd = links.record("VBD", ref);
    if (vbd === undefined || vbd.type === "CD") continue;
    const sr = links.record("SR", links.record("VDI", vbd.VDI)?.SR);
    const host = sr && localHostOf(sr, links);
    if (host !== undefined) return host;
  }
  return undefined;
}
