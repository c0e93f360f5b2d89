import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";

/** VMs resident on a host, without its control domain. */
export function guestsOf(host: PoolObject, objects: PoolObjects): PoolObject[] {
  return guestIdsOf(host)
    .map((id) => objects.get(id))
    .filter(({ type }) => type === "VM");
}

/** Ids of the VMs resident on a host, without reading each VM. */
export function guestIdsOf({ object }: PoolObject): string[] {
  const { residentVms, controlDomain } = object;
  return (residentVms as readonly string[]).filter(
    (id) => id !== controlDomain,
  );
}

/** Number of VMs that are suspended, resumed or migrated at a time. */
const AT_A_TIME = 4;

/**
 * Runs code for each VM, a few at a time; failures do not stop the others.
 * @throws the first error, when all have ended
 */
export function toEach(
  vms: readonly PoolObject[],
  run: (vm: PoolObject) => Promise<unknown>,
): Promise<void> {
  return eachOf(vms, run);
}

/** Like `toEach`, for any items. */
export async function eachOf<T>(
  all: readonly T[],
  run: (one: T) => Promise<unknown>,
): Promise<void> {
  const failures = new Map<number, unknown>();
  let next = 0;
  const serve = async () => {
    while (next < all.length) {
      const index = next++;
      try {
        await run(all[index]!);
      } catch (error) {
        failures.set(index, error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, serve));
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
}

/** Runs code while operations of VMs are unblocked, and blocks them again afterwards. */
export async function withoutBlocks<T>(
  vms: readonly PoolObject[],
  operations: readonly string[],
  run: () => Promise<T>,
): Promise<T> {
  const lifted = vms.flatMap((vm) =>
    operations.flatMap((operation) => {
      const blocks = vm.object["blockedOperations"] as Blocks | undefined;
      const reason = blocks?.[operation];
      return reason === undefined ? [] : [{ vm, operation, reason }];
    }),
  );
  try {
    for (const { vm, operation } of lifted)
      await vm.xapi.call("VM.remove_from_blocked_operations", [
        vm.ref,
        operation,
      ]);
    return await run();
  } finally {
    for (const { vm, operation, reason } of lifted) {
      await vm.xapi.call("VM.remove_from_blocked_operations", [
        vm.ref,
        operation,
      ]);
      await vm.xapi.call("VM.add_to_blocked_operations", [
        vm.ref,
        operation,
        reason,
      ]);
    }
  }
}

type Blocks = Readonly<Record<string, string>>;
