import { isObject } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import type { Vbd, Vdi, Vif } from "../objects/devices.js";
import type { Network } from "../objects/infrastructure.js";
import type { Template, TemplateParts } from "./draft.js";
import { anyOf } from "../filters/value-text.js";

/** Disks and VIFs of a template, and the default networks of its pool. */
export async function readParts(
  call: Call,
  { id, $pool = "" }: Template,
): Promise<TemplateParts> {
  const page = async <T>(type: string, filter: string): Promise<T[]> => {
    const answer = await call("query.page", { type, filter, limit: 200 });
    const rows = isObject(answer) ? answer["rows"] : undefined;
    return Array.isArray(rows) ? (rows as T[]) : [];
  };
  const [vbds, vifs, networks] = await Promise.all([
    page<Vbd>("VBD", `VM:"${id}" !is_cd_drive?`),
    page<Vif>("VIF", `$VM:"${id}"`),
    page<Network & { automatic?: boolean }>("network", `$pool:"${$pool}"`),
  ]);
  const disks = vbds.flatMap(({ VDI }) => (VDI === undefined ? [] : [VDI]));
  const vdis =
    disks.length === 0 ? [] : await page<Vdi>("VDI", `id:${anyOf(disks)}`);
  // The first bridge usually has the management interface and DHCP.
  const outside = networks
    .filter(({ PIFs }) => PIFs.length > 0)
    .sort((a, b) => (a.bridge < b.bridge ? -1 : 1));
  const first =
    networks.find(({ automatic }) => automatic) ?? outside[0] ?? networks[0];
  return { vbds, vdis, vifs, network: first?.id };
}

/** @returns undefined: it does not exist or is not permitted */
export async function readTemplate(
  call: Call,
  id: string,
): Promise<Template | undefined> {
  const filter = `id:${JSON.stringify(id)}`;
  const answer = await call("query.page", {
    type: "VM-template",
    filter,
    limit: 1,
  });
  const rows = isObject(answer) ? answer["rows"] : undefined;
  const [row] = Array.isArray(rows) ? (rows as Template[]) : [];
  return row;
}
