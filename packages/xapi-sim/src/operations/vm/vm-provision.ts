import type { CallContext, OperationTable } from "../../operation.js";
import { assertNotBlocked } from "../effects/blocked-operations.js";
import { XapiFailure } from "../../xapi-failure.js";
import { progressDuring, whileBusy } from "../effects/busy.js";
import { durations } from "../effects/durations.js";
import { flag, map, refIn, text, textParam } from "../../records/fields.js";
import { refreshVbd, refreshVm } from "../effects/refresh.js";
import { diskSize } from "../storage/sr-checks.js";

export const vmProvisionOperations: OperationTable = {
  "VM.provision": async (context, params) => {
    const { db } = context;
    const vm = textParam(params, 0);
    const record = db.get("VM", vm);
    assertNotBlocked(db, vm, "provision");
    if (!flag(record, "is_a_template"))
      throw new XapiFailure("PROVISION_ONLY_ALLOWED_ON_TEMPLATE");
    await whileBusy(
      context,
      { className: "VM", ref: vm },
      "provision",
      async () => {
        await progressDuring(context, durations.clone);
        const { disks, ...other_config } = map(record, "other_config");
        if (typeof disks === "string")
          for (const disk of disksIn(disks)) addDisk(context, vm, disk);
        db.update("VM", vm, {
          is_a_template: false,
          is_default_template: false,
          other_config,
        });
      },
    );
    refreshVm(db, vm);
  },
};

interface ProvisionDisk {
  readonly device: string;
  readonly size: number;
  /** uuid of the SR; empty: the pool's default. */
  readonly sr: string;
  readonly bootable: boolean;
}

/** other_config.disks of a template: `<provision><disk device="0" size="..." sr="..." bootable="true"/></provision>`. */
function disksIn(xml: string): readonly ProvisionDisk[] {
  return [...xml.matchAll(/<disk ([^>]*)>/g)].map(([, attributes]) => {
    const value = (name: string) =>
      new RegExp(`\\b${name}="([^"]*)"`).exec(attributes!)?.[1] ?? "";
    return {
      device: value("device"),
      size: Number(value("size")),
      sr: value("sr"),
      bootable: value("bootable") === "true",
    };
  });
}

function addDisk(
  { db, pool, random, state }: CallContext,
  vm: string,
  disk: ProvisionDisk,
): void {
  const sr =
    disk.sr === ""
      ? refIn(db.get("pool", pool.poolRef), "default_SR")
      : db.byUuid("SR", disk.sr);
  if (sr === undefined)
    throw new XapiFailure("DEFAULT_SR_NOT_FOUND", [disk.sr]);
  const virtual_size = diskSize(disk.size);
  const uuid = random.uuid();
  const VDI = db.create("VDI", {
    uuid,
    location: uuid,
    name_label: `${text(db.get("VM", vm), "name_label")} ${disk.device}`,
    name_description: "Created by template provisioner",
    SR: sr,
    virtual_size,
    type: "user",
    managed: true,
  });
  state.disks.create(uuid, virtual_size);
  const vbd = db.create("VBD", {
    VM: vm,
    VDI,
    userdevice: disk.device,
    bootable: disk.bootable,
    mode: "RW",
    type: "Disk",
    unpluggable: true,
    other_config: { owner: "true" },
  });
  refreshVbd(db, vbd);
}
