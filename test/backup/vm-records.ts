import type { SimulatedPool } from "@xo-server/xapi-sim";

type XapiRecord = Readonly<Record<string, unknown>>;

/** The records of a VM as a backup stores them. */
export function recordsOf(
  { database }: SimulatedPool,
  uuid: string,
): Record<string, unknown> {
  const VM = { ...database.get("VM", database.byUuid("VM", uuid)!) };
  const all = (className: string, refs: readonly string[]) =>
    Object.fromEntries(
      refs.map((ref): [string, XapiRecord] => [
        ref,
        database.get(className, ref) as XapiRecord,
      ]),
    );
  const VBDs = all("VBD", VM["VBDs"] as string[]);
  const disks = Object.values(VBDs)
    .filter(({ type }) => type === "Disk")
    .map(({ VDI }) => VDI as string);
  const VIFs = all("VIF", VM["VIFs"] as string[]);
  const networks = Object.values(VIFs).map(({ network }) => network as string);
  return {
    VM,
    VBDs,
    VDIs: all("VDI", disks),
    VIFs,
    VTPMs: {},
    networks: all("network", networks),
    SRs: {},
  };
}
