import { XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import type { Work } from "../tasks/work.js";
import { whileEmpty } from "./empty-host.js";
import { guestsOf, toEach } from "./guests.js";
import { rebootAndWait, type RestartParts } from "./restart.js";

export interface RollingParts extends RestartParts {
  readonly work: Work;
}

export interface RollingOptions {
  /** VMs that cannot be moved are shut down, and started again on their host. */
  readonly shutdownPinnedVms: boolean;
}

/** Where its guests were before. */
interface Place {
  readonly host: PoolObject;
  readonly guests: readonly PoolObject[];
}

/**
 * Reboots the hosts of a pool, one after another and the coordinator first;
 * guests move away before and back at the end. The first failure ends it: what
 * has not been rebooted is left as it is.
 * @throws XoError INCORRECT_STATE: HA is on, or a host takes no guests; what the pool refused
 */
export async function rollingReboot(
  pool: PoolObject,
  hosts: readonly PoolObject[],
  parts: RollingParts,
  options: RollingOptions,
): Promise<void> {
  checkReady(pool, hosts);
  const places = hosts.map((host) => ({
    host,
    guests: guestsOf(host, parts.objects),
  }));
  const master = ({ host }: Place) => host.id === pool.object["master"];
  const ordered = [
    ...places.filter(master),
    ...places.filter((place) => !master(place)),
  ];
  for (const place of ordered) await checkMovable(place, options);
  for (const [done, place] of ordered.entries()) {
    const name = `reboot ${String(place.host.object["name_label"])}`;
    await parts.work.part(name, () => rebootEmpty(place, parts, options));
    parts.work.progress((done + 1) / (ordered.length + 1));
  }
  await parts.work.part("move VMs back", () => moveBack(ordered, parts));
}

function checkReady(pool: PoolObject, hosts: readonly PoolObject[]): void {
  const check = (one: PoolObject, property: string, expected: unknown) => {
    const actual = one.object[property];
    if (actual !== expected)
      throw new XoError("INCORRECT_STATE", {
        ...{ object: one.id, property, actual, expected },
      });
  };
  check(pool, "HA_enabled", false);
  for (const host of hosts) {
    check(host, "power_state", "Running");
    check(host, "enabled", true);
  }
}

/** Before anything is moved. */
async function checkMovable(
  { host }: Place,
  { shutdownPinnedVms }: RollingOptions,
): Promise<void> {
  if (!shutdownPinnedVms)
    await host.xapi.call("host.assert_can_evacuate", [host.ref]);
}

async function rebootEmpty(
  { host }: Place,
  parts: RollingParts,
  { shutdownPinnedVms }: RollingOptions,
): Promise<void> {
  const pinned = shutdownPinnedVms ? await pinnedOn(host, parts) : [];
  await toEach(pinned, (vm) =>
    vm.xapi.callAsync("VM.clean_shutdown", [vm.ref]),
  );
  try {
    // As it is now: guests of hosts that were rebooted before have come.
    const now = parts.objects.get(host.id, "host");
    await whileEmpty(now, {}, () => rebootAndWait(now, parts));
  } finally {
    await toEach(pinned, (vm) =>
      vm.xapi.callAsync("VM.start_on", [vm.ref, host.ref, false, false]),
    );
  }
}

async function pinnedOn(
  { xapi, ref }: PoolObject,
  { objects }: RollingParts,
): Promise<PoolObject[]> {
  const method = "host.get_vms_which_prevent_evacuation";
  const stuck = (await xapi.call(method, [ref])) as Record<string, unknown>;
  return Object.keys(stuck).map((vm) => objects.get(vm, "VM"));
}

/** Those that are somewhere else now; one that does not want to go back stays where it is. */
async function moveBack(
  places: readonly Place[],
  { objects, work }: RollingParts,
): Promise<void> {
  for (const { host, guests } of places)
    await toEach(guests, async (before) => {
      try {
        const vm = objects.get(before.id, "VM");
        const { power_state, $container } = vm.object;
        if (power_state !== "Running" || $container === host.id) return;
        await vm.xapi.callAsync("VM.pool_migrate", [
          ...[vm.ref, host.ref],
          { live: "true" },
        ]);
      } catch (error) {
        const { message } = error as Error;
        work.warn(`${before.id} stays on another host: ${message}`);
      }
    });
}
