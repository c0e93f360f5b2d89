import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { NewVm } from "./new-vm.js";
import { createInterface } from "../drives/new-vbds.js";
import type { VmRecord } from "../xapi-records.js";

/** Creates the VIFs of a new VM as specified. */
export async function createVifs(
  { vifs, keepsVifs, template: { xapi } }: NewVm,
  vm: Ref,
  { VIFs }: VmRecord,
): Promise<void> {
  if (vifs === undefined) return;
  const devices = new Map<string, Ref>();
  for (const vif of VIFs) devices.set(await deviceOf(xapi, vif), vif);
  const named = new Set(vifs.map(({ device }) => device));
  for (const [device, vif] of devices)
    if (!keepsVifs || named.has(device)) {
      await xapi.callAsync("VIF.destroy", [vif]);
      devices.delete(device);
    }
  const taken = new Set([...devices.keys(), ...named]);
  for (const vif of vifs) {
    const { network } = vif;
    const device = vif.device ?? firstFree(taken);
    taken.add(device);
    if (network !== undefined)
      await createInterface(xapi, { ...vif, vm, network, device });
  }
}

async function deviceOf(xapi: Xapi, vif: Ref): Promise<string> {
  return String(await xapi.call("VIF.get_device", [vif]));
}

function firstFree(taken: ReadonlySet<string | undefined>): string {
  let device = 0;
  while (taken.has(String(device))) device++;
  return String(device);
}
