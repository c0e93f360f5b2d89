import { randomBytes } from "node:crypto";
import type { ApiSession } from "../api-session.js";
import type { ControlledPools } from "../controlled-pools.js";

export const MIB = 2 ** 20;

/** A halted VM whose disks are small. */
export interface SmallVm {
  readonly id: string;
  /** Ids of its disks. */
  readonly disks: readonly string[];
}

/** A VM of the pool gets new disks of 8 MiB in place of its own; their first MiB is random. */
export async function withSmallDisks(
  { api, pools }: Pick<ControlledPools, "api" | "pools">,
  names: readonly string[],
  nth = 0,
): Promise<SmallVm> {
  const vm = await smallDisks(api, names, nth);
  for (const disk of vm.disks) write(pools[0]!, disk, 0, MIB);
  return vm;
}

/** The same, with disks of zeros. */
export async function smallDisks(
  api: ApiSession,
  names: readonly string[],
  nth = 0,
): Promise<SmallVm> {
  const vms = await api.all({ type: "VM" });
  const { id, $VBDs, power_state } = vms[nth]!;
  if (power_state !== "Halted")
    await api.request("vm.stop", {
      id,
      force: true,
      bypassBlockedOperation: true,
    });
  let sr = "";
  for (const vbd of $VBDs as string[]) {
    const { VDI, is_cd_drive } = await api.get(vbd);
    if (is_cd_drive === true || typeof VDI !== "string") continue;
    sr = String((await api.get(VDI))["$SR"]);
    await api.request("vdi.delete", { id: VDI });
  }
  const disks: string[] = [];
  for (const name of names) {
    const size = 8 * MIB;
    const disk = await api.request("disk.create", { name, size, sr, vm: id });
    disks.push(String(disk));
  }
  return { id, disks };
}

/** A guest writes random bytes. */
export function write(
  { disks }: ControlledPools["pools"][number],
  disk: string,
  offset: number,
  size: number,
): void {
  disks.write(disk, offset, randomBytes(size));
}

export interface LoggedVm {
  readonly vm: string;
  readonly status: string;
  readonly reason?: string;
  readonly error?: { readonly code?: string; readonly message?: string };
  readonly warnings?: readonly string[];
  readonly skippedDisks?: readonly {
    readonly vdi: string;
    readonly reason: string;
  }[];
  readonly repositories?: readonly {
    readonly status: string;
    readonly mode?: string;
    readonly backup?: string;
    readonly deleted?: readonly string[];
    readonly error?: { readonly code?: string; readonly message?: string };
    readonly disks?: readonly {
      readonly vdi: string;
      readonly source: string;
      readonly read: number;
      readonly changed: number;
      readonly stored: number;
      readonly reasons?: readonly string[];
    }[];
  }[];
}

export interface LoggedRun {
  readonly id: string;
  readonly status: string;
  readonly vms: readonly LoggedVm[];
  readonly error?: { readonly message: string };
  readonly [key: string]: unknown;
}

/** Runs a job to its end. */
export async function runJob(api: ApiSession, id: string): Promise<LoggedRun> {
  await api.call("job.runNow", { id, wait: true });
  return lastRun(api, id);
}

export async function lastRun(
  api: ApiSession,
  jobId: string,
): Promise<LoggedRun> {
  const { runs } = (await api.request("jobRun.list", { jobId })) as {
    runs: LoggedRun[];
  };
  return runs[0]!;
}

/** Snapshots of a VM, and operations of it that are blocked, as XAPI has them. */
export function leftovers(
  { record, pools }: Pick<ControlledPools, "record" | "pools">,
  vm: string,
): { snapshots: string[]; blocked: string[] } {
  const { snapshots, blocked_operations } = record("VM", vm);
  const { database } = pools[0]!;
  return {
    snapshots: (snapshots as string[]).map(
      (ref) => database.get("VM", ref)["name_label"] as string,
    ),
    blocked: Object.keys(blocked_operations as object),
  };
}
