import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { read, readAll, refsOf, textOf } from "./xapi-objects.js";

/**
 * The address of a host with access to all SRs, whose handlers read the disks
 * without a redirect from the coordinator.
 * @returns undefined: the coordinator has access, or no host does
 */
export async function hostWithSrs(
  xapi: Xapi,
  srs: readonly Ref[],
): Promise<string | undefined> {
  let hosts: ReadonlySet<string> | undefined;
  for (const sr of new Set(srs)) {
    const some = await hostsWithSr(xapi, sr);
    hosts = new Set(some.filter((host) => hosts?.has(host) ?? true));
  }
  const pools = (await xapi.call("pool.get_all", [])) as readonly Ref[];
  const coordinator = await xapi.call("pool.get_master", [pools[0]]);
  const [first] = hosts ?? [];
  if (first === undefined || hosts?.has(String(coordinator)) === true)
    return undefined;
  const host = await read(xapi, "host", first);
  return textOf(host, "address");
}

async function hostsWithSr(xapi: Xapi, sr: Ref): Promise<Ref[]> {
  const record = await read(xapi, "SR", sr);
  const pbds = await readAll(xapi, "PBD", refsOf(record, "PBDs"));
  return [...pbds.values()]
    .filter((pbd) => pbd["currently_attached"] === true)
    .map((pbd) => textOf(pbd, "host"));
}
