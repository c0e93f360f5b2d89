import type { XapiRecord } from "../store/record-rows.js";
import type { ViewLinks } from "./view.js";
import { firstOf, toList } from "./values/lists.js";

/** The host that a storage repository belongs to; undefined for a shared one, and for one that hangs on none. */
export function localHostOf(
  sr: XapiRecord,
  links: ViewLinks,
): string | undefined {
  if (sr.shared === true) return undefined;
  const pbd = links.record("PBD", firstOf(sr.PBDs));
  return pbd && links.id("host", pbd.host);
}

/** The host whose local storage holds a disk of the VM: there alone can it start. */
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
