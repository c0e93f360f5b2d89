import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { insertCd } from "../drives/cd-drive.js";
import { createConfigDrive } from "../drives/config-drive.js";
import { addVm } from "../destroy-vm.js";
import type { Rollback } from "../rollback.js";
import type { NewVm } from "./new-vm.js";
import { createVifs } from "./create-vifs.js";
import { createDisks, type NewDiskContext } from "./create-disks.js";
import { entryCalls, type Call } from "../settings/setting-calls.js";
import {
  disksOf,
  isSet,
  readVbds,
  readRecord,
  type VmRecord,
} from "../xapi-records.js";

export interface CreatedVm {
  readonly ref: Ref;
  readonly uuid: string;
  /** The config drive, which is only needed for the first boot. */
  readonly configDrive: { readonly vbd: Ref; readonly vdi: Ref } | undefined;
}

/** Options that are not part of the plan. */
interface CreateVmOptions {
  readonly rollback: Rollback;
  /** Calls for its settings, computed from the record of the clone. */
  readonly toSettings: (vm: VmRecord) => readonly Call[];
  /** Called when the VM exists, but is not complete yet. */
  readonly onHalf: (vm: Ref) => Promise<void>;
}

/** Creates a VM without starting it. */
export async function createVm(
  plan: NewVm,
  { rollback, toSettings, onHalf }: CreateVmOptions,
): Promise<CreatedVm> {
  const { xapi } = plan.template;
  const ref = await copyTemplate(plan);
  addVm(rollback, ref, `VM ${plan.name} (${ref})`);
  await onHalf(ref);
  await provision(plan, ref);
  const vm = await readRecord(xapi, "VM", ref);
  for (const [message, ...params] of toSettings(vm))
    await xapi.call(`VM.${message}`, [ref, ...params]);
  const context: NewDiskContext = { ...plan, xapi, vm: ref, rollback };
  if (plan.disks !== undefined) await createDisks(context, plan.disks);
  await createVifs(plan, ref, vm);
  await installFrom(plan, context, vm);
  await furnish(plan, ref);
  const configDrive = await configure(plan, context, vm.uuid);
  return { ref, uuid: vm.uuid, configDrive };
}

async function copyTemplate(plan: NewVm): Promise<Ref> {
  const { xapi, ref } = plan.template;
  const created = plan.isClone
    ? await xapi.callAsync("VM.clone", [ref, plan.name])
    : await xapi.callAsync("VM.copy", [ref, plan.name, "OpaqueRef:NULL"]);
  return created as Ref;
}

/** Templates without disks describe them in other_config; explicit disks take precedence. */
async function provision(plan: NewVm, ref: Ref): Promise<void> {
  const { xapi } = plan.template;
  const { install } = plan;
  const calls = entryCalls("other_config", {
    ...(plan.disks === undefined ? {} : { disks: null }),
    ...(install?.method === "network" && install.repository !== "pxe"
      ? { "install-repository": install.repository || null }
      : {}),
  });
  for (const [message, ...params] of calls)
    await xapi.call(`VM.${message}`, [ref, ...params]);
  await xapi.callAsync("VM.provision", [ref]);
}

async function installFrom(
  { install }: NewVm,
  { xapi, vm: ref, rollback }: NewDiskContext,
  { HVM_boot_policy, HVM_boot_params }: VmRecord,
): Promise<void> {
  if (install === undefined) return;
  if (install.method === "cdrom") {
    await insertCd({ xapi, ref }, install.image, { force: true, rollback });
    return;
  }
  if (HVM_boot_policy === "") return;
  const { order = "cd" } = HVM_boot_params;
  const networkFirst = `n${order.replace("n", "")}`;
  for (const [message, ...params] of entryCalls("HVM_boot_params", {
    order: networkFirst,
  }))
    await xapi.call(`VM.${message}`, [ref, ...params]);
}

async function furnish(plan: NewVm, ref: Ref): Promise<void> {
  const { xapi } = plan.template;
  const { biosHost, hasVtpm, gpu } = plan;
  if (biosHost !== undefined)
    await xapi.callAsync("VM.copy_bios_strings", [ref, biosHost]);
  if (hasVtpm) await xapi.callAsync("VTPM.create", [ref, false]);
  if (gpu !== undefined)
    await xapi.callAsync("VGPU.create", [ref, gpu.group, "0", {}, gpu.type]);
}

async function configure(
  { config, defaultSr, disks = [] }: NewVm,
  { xapi, vm, rollback }: NewDiskContext,
  uuid: string,
): Promise<CreatedVm["configDrive"]> {
  if (config === undefined) return undefined;
  const sr =
    disks.find((disk) => disk.sr !== undefined && !disk.destroy)?.sr ??
    (await firstSrOf(xapi, vm)) ??
    defaultSr ??
    "OpaqueRef:NULL";
  return createConfigDrive(
    { xapi, vm: { ref: vm, uuid }, sr, rollback },
    config,
  );
}

/** SR of the first disk of the VM. */
async function firstSrOf(xapi: Xapi, vm: Ref): Promise<Ref | undefined> {
  const { VBDs } = await readRecord(xapi, "VM", vm);
  const [first] = disksOf(await readVbds(xapi, VBDs));
  if (first === undefined) return undefined;
  const { SR } = await readRecord(xapi, "VDI", first.VDI);
  return isSet(SR) ? SR : undefined;
}
