import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObject } from "../objects/pool-objects.js";
import { allOrNothing, type Made } from "./made.js";
import { destroyVm } from "./destroy-vm.js";

export interface CopyOptions {
  readonly name: string;
  /** Where its disks go; of another pool, the copy goes there. */
  readonly sr: PoolObject;
  /** See allOrNothing. */
  readonly cleaner: Xapi;
  /** What XAPI makes of the data on its way to another pool. */
  readonly compression: "" | "gzip" | "zstd";
}

/** A full copy. @returns its reference and the pool that it is in */
export async function copyVm(
  vm: PoolObject,
  { name, sr, cleaner, compression }: CopyOptions,
): Promise<{ readonly xapi: Xapi; readonly ref: Ref }> {
  const { xapi } = vm;
  if (vm.object["$pool"] === sr.object["$pool"]) {
    const ref = await xapi.callAsync("VM.copy", [vm.ref, name, sr.ref]);
    return { xapi, ref: ref as Ref };
  }
  return allOrNothing(cleaner, async (made) => {
    const ref = await sendCopy(vm, sr, compression);
    addUndo(made, ref);
    await sr.xapi.call("VM.set_name_label", [ref, name]);
    return { xapi: sr.xapi, ref };
  });
}

function addUndo(made: Made, ref: Ref): void {
  const options = {
    deleteDisks: true,
    bypassBlock: true,
    evenDefaultTemplate: true,
  };
  made.add(`VM ${ref}`, (cleaner) => destroyVm(cleaner, ref, options));
}

const COMPRESSIONS = { "": "false", gzip: "true", zstd: "zstd" } as const;

/** XAPI takes back what it has of an import that breaks off. */
async function sendCopy(
  vm: PoolObject,
  sr: PoolObject,
  compression: CopyOptions["compression"],
): Promise<Ref> {
  const label = `Copy of ${String(vm.object["name_label"])}`;
  const target = sr.xapi;
  const task = (await target.call("task.create", [label, ""])) as Ref;
  try {
    const archive = await vm.xapi.getStream({
      path: "/export",
      query: { ref: vm.ref, use_compression: COMPRESSIONS[compression] },
    });
    const imported = target.watchTask(task, { resultType: "VM ref set" });
    // Waited for below; it may fail before that.
    imported.catch(() => undefined);
    await target.putStream(archive.body, {
      path: "/import",
      query: { sr_id: sr.ref },
      task,
    });
    const [ref] = (await imported) as readonly Ref[];
    if (ref !== undefined) return ref;
    throw new XoError("INTERNAL", { reason: "the import made no VM" });
  } finally {
    await target.call("task.destroy", [task]).catch(() => undefined);
  }
}
