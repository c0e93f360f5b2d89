import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { FAT_CAPACITY, FAT_SIZE, writeFatImage } from "./fat-image.js";
import type { Rollback } from "../rollback.js";
import { createDisk, createVbd } from "./new-vbds.js";
import { writeDisk } from "./write-disk.js";

/** Configuration that cloud-init applies in a guest. */
export interface GuestConfig {
  readonly userData: string;
  /** Network configuration in the format of cloud-init, version 1 or 2. */
  readonly networkConfig?: string | undefined;
}

const LABEL = "cidata";

/** Size of the config drive's disk, in bytes. */
export const CONFIG_DRIVE_SIZE = FAT_SIZE;

/** Name of the config drive's disk. */
export const CONFIG_DRIVE = "XO CloudConfigDrive";

/**
 * A disk image with the label of cloud-init's data source NoCloud
 * (https://docs.cloud-init.io/en/latest/reference/datasources/nocloud.html).
 * @param instance id of the VM; with a new id, the guest runs cloud-init again
 * @throws XoError INVALID_PARAMETERS: the files do not fit
 */
export function writeConfigImage(
  { userData, networkConfig }: GuestConfig,
  instance: string,
): Buffer {
  const files = Object.entries({
    "meta-data": `instance-id: ${instance}\n`,
    "user-data": userData,
    ...(networkConfig === undefined ? {} : { "network-config": networkConfig }),
  }).map(([name, text]) => ({ name, content: Buffer.from(text) }));
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  if (bytes + files.length * 512 > FAT_CAPACITY) {
    const reason = `the configuration has ${bytes} bytes, a config drive has room for ${FAT_CAPACITY}`;
    throw new XoError("INVALID_PARAMETERS", { reason });
  }
  const serial = parseInt(instance.slice(0, 8), 16) || 0;
  return writeFatImage(files, { label: LABEL, serial });
}

interface ConfigDriveParts {
  readonly xapi: Xapi;
  readonly vm: { readonly ref: Ref; readonly uuid: string };
  readonly sr: Ref;
  readonly rollback: Rollback;
}

/** @returns references of the VBD and of its disk */
export async function createConfigDrive(
  { xapi, vm, sr, rollback }: ConfigDriveParts,
  config: GuestConfig,
): Promise<{ readonly vbd: Ref; readonly vdi: Ref }> {
  const image = writeConfigImage(config, vm.uuid);
  const vdi = await createDisk(
    xapi,
    {
      sr,
      vm: vm.ref,
      size: image.length,
      name: CONFIG_DRIVE,
      description: "Configuration for cloud-init",
    },
    rollback,
  );
  await writeDisk(xapi, vdi, image);
  const vbd = await createVbd(xapi, { vm: vm.ref, vdi });
  return { vbd, vdi };
}
