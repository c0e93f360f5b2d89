import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { read, readAll, refsOf, textOf } from "./xapi-objects.js";

/**
 * The address of a host that has an SR attached: its handlers read the disks
 * without a redirect from the coordinator.
 * @returns undefined: the coordinator has it
 */
export async function hostWithSr(
  xapi: Xapi,
  sr: Ref,
): Promise<string | undefined> {
  const record = await read(xapi, "SR", sr);
  const pbds = await readAll(xapi, "PBD", refsOf(record, "PBDs"));
  const hosts = [...pbds.values()]
    .filter((pbd) => pbd["currently_attached"] === true)
    .map((pbd) => textOf(pbd, "host"));
  const pools = (await xapi.call("pool.get_all", [])) as readonly Ref[];
  const coordinator = await xapi.call("pool.get_master", [pools[0]]);
  if (hosts.length === 0 || hosts.includes(String(coordinator)))
    return undefined;
  const host = await read(xapi, "host", hosts[0]!);
  return textOf(host, "address");
}
