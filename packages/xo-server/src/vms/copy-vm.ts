import { NULL_REF, XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObject } from "../objects/pool-objects.js";
import { untrackedTask } from "../tasks/task-context.js";
import { openXapiStream, sendToXapi } from "../transfers/xapi-streams.js";
import { addVm } from "./destroy-vm.js";
import { withRollback, type Rollback } from "./rollback.js";
import { readRecord } from "./xapi-records.js";

interface CopyOptions {
  readonly name: string;
  /**
   * Target SR of the disks; if it belongs to another pool, the copy is created
   * there. Absent: each disk stays on its SR.
   */
  readonly sr?: PoolObject;
  /** Rollback in the target pool. */
  readonly rollback: Rollback;
  /** The VM's pool, for calls that are not cancelled with the task. */
  readonly cleanupXapi: Xapi;
  /** Compression of the data on its way to another pool. */
  readonly compression?: "" | "gzip" | "zstd";
}

/**
 * A full copy. If the VM is not halted, its current state is copied.
 * @returns the reference and the pool of the copy
 */
export async function copyVm(
  vm: PoolObject,
  options: CopyOptions,
): Promise<{ readonly xapi: Xapi; readonly ref: Ref }> {
  const { xapi } = vm;
  const { power_state } = await readRecord(xapi, "VM", vm.ref);
  if (power_state === "Halted" || vm.object["type"] !== "VM")
    return copyResting(vm, options);
  // XAPI only copies halted VMs and snapshots.
  const label = `${options.name} (being copied)`;
  const ref = (await xapi.callAsync("VM.snapshot", [vm.ref, label, []])) as Ref;
  return afterwards(options.cleanupXapi, ref, () =>
    copyResting({ ...vm, ref }, options),
  );
}

/**
 * Runs code and deletes the snapshot afterwards in any case.
 * @throws XoError LEFT_BEHIND
 */
async function afterwards<T>(
  cleanupXapi: Xapi,
  snapshot: Ref,
  act: () => Promise<T>,
): Promise<T> {
  return withRollback(cleanupXapi, async (rollback) => {
    addVm(rollback, snapshot, `snapshot ${snapshot}`);
    const result = await act();
    const left = await rollback.run(cleanupXapi);
    if (left.length === 0) return result;
    const reason = "the VM is copied";
    throw new XoError("LEFT_BEHIND", { reason, left: left.join(", ") });
  });
}

async function copyResting(
  vm: PoolObject,
  { name, sr, rollback, compression = "" }: CopyOptions,
): Promise<{ readonly xapi: Xapi; readonly ref: Ref }> {
  const { xapi } = vm;
  if (sr === undefined || vm.object["$pool"] === sr.object["$pool"]) {
    const to = sr?.ref ?? NULL_REF;
    const ref = (await xapi.callAsync("VM.copy", [vm.ref, name, to])) as Ref;
    addVm(rollback, ref);
    return { xapi, ref };
  }
  const ref = await sendCopy(vm, { sr, rollback, compression });
  await sr.xapi.call("VM.set_name_label", [ref, name]);
  return { xapi: sr.xapi, ref };
}

const COMPRESSIONS = { "": "false", gzip: "true", zstd: "zstd" } as const;

interface Shipment {
  readonly sr: PoolObject;
  readonly rollback: Rollback;
  readonly compression: keyof typeof COMPRESSIONS;
}

/**
 * Copies through the server, from socket to socket. VM.migrate_send with `copy`
 * would avoid that, but requires that the hosts of both pools reach each other and
 * have compatible versions, and that the VM is halted.
 */
async function sendCopy(
  vm: PoolObject,
  { sr, rollback, compression }: Shipment,
): Promise<Ref> {
  const label = `Copy of ${String(vm.object["name_label"])}`;
  const ended = new AbortController();
  // Export and import are shown as parts of the task by `followed`.
  const work = { ...untrackedTask, signal: ended.signal };
  try {
    const { body, finished } = await openXapiStream(
      vm.xapi,
      {
        path: "/export",
        label,
        query: { ref: vm.ref, use_compression: COMPRESSIONS[compression] },
      },
      work,
    );
    // XAPI deletes the result of an incomplete import.
    const imported = await sendToXapi(
      sr.xapi,
      {
        path: "/import",
        query: { sr_id: sr.ref },
        label,
        body,
        length: undefined,
        resultType: "VM ref set",
      },
      work,
    );
    const [ref] = imported as readonly Ref[];
    if (ref === undefined)
      throw new XoError("INTERNAL", { reason: "the import created no VM" });
    addVm(rollback, ref);
    await finished?.();
    return ref;
  } finally {
    ended.abort();
  }
}
