import type { Action } from "@xo-server/placement";
import { XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import { undoAfter } from "../operations/undo.js";
import { applyPlan } from "../placement/apply-plan.js";
import { enableAgain, evacuate } from "../hosts/evacuate-host.js";
import { eachOf } from "../hosts/guests.js";
import {
  nameOf,
  type EvacuationBlocker,
} from "../hosts/evacuation-blockers.js";
import { restartVmsOnFailure, step, type TurnParts } from "./turn.js";

/** Maximum number of concurrent migrations per host, as source or as target. */
const MOVES_PER_HOST = 3;

interface EmptyRequest {
  readonly hosts: readonly PoolObject[];
  /** Absent: XAPI chooses the target hosts. */
  readonly actions: readonly Action[] | undefined;
  readonly shutDown: readonly EvacuationBlocker[];
}

/** Returns the parameters of the turn of a host. */
type PartsOf = (host: PoolObject) => TurnParts;

/**
 * Evacuates hosts: shuts down VMs that cannot be migrated, disables the hosts, and
 * migrates all other VMs. After a failure the hosts are enabled, and VMs that were
 * shut down are started.
 * @throws XoError INCORRECT_STATE: a VM was migrated and does not run
 */
export async function emptyWave(
  { hosts, actions, shutDown }: EmptyRequest,
  parts: TurnParts,
  partsOf: PartsOf,
): Promise<void> {
  const run = hosts.reduceRight<() => Promise<void>>(
    (next, host) => () => restartVmsOnFailure(host.id, partsOf(host), next),
    async () => {
      for (const host of hosts) await shutDownOn(host, shutDown, partsOf(host));
      await moveAll(hosts, actions, parts);
    },
  );
  await run();
}

async function shutDownOn(
  host: PoolObject,
  all: readonly EvacuationBlocker[],
  parts: TurnParts,
): Promise<void> {
  const stuck = all.filter((one) => one.host.id === host.id);
  if (stuck.length === 0) return;
  const ids = stuck.map(({ vm }) => vm.id);
  await parts.keepShutDown([...new Set([...parts.shutDown(), ...ids])]);
  await step(parts, "shut down VMs that cannot leave", (own) =>
    eachOf(stuck, ({ vm }) =>
      own.objects
        .get(vm.id, "VM")
        .xapi.callAsync("VM.clean_shutdown", [vm.ref]),
    ),
  );
}

async function moveAll(
  hosts: readonly PoolObject[],
  actions: readonly Action[] | undefined,
  parts: TurnParts,
): Promise<void> {
  try {
    for (const { xapi, ref } of hosts) await xapi.call("host.disable", [ref]);
    await step(parts, "evacuate", async (own) => {
      const { objects, work, clock, signal } = own;
      if (actions !== undefined)
        await applyPlan(actions, {
          objects,
          work,
          clock,
          signal,
          parallel: MOVES_PER_HOST * hosts.length,
          perHost: MOVES_PER_HOST,
        });
      // VMs that were started or migrated to the hosts in the meantime.
      await eachOf(hosts, ({ id }) => evacuate(objects.get(id, "host")));
      await allRun(actions ?? [], own);
    });
  } catch (error) {
    const { objects } = parts;
    throw await undoAfter(
      error,
      hosts.map(({ id }) => enableAgain(objects.get(id, "host"))),
    );
  }
}

/** @throws XoError INCORRECT_STATE: names the first VM that does not run */
async function allRun(
  actions: readonly Action[],
  { objects }: TurnParts,
): Promise<void> {
  await eachOf([...new Set(actions.map(({ vm }) => vm))], async (id) => {
    const found = objects.find(id);
    if (found === undefined) return;
    const vm = objects.get(id, "VM");
    const actual = await vm.xapi.call("VM.get_power_state", [vm.ref]);
    if (actual !== "Running" && actual !== "Paused")
      throw new XoError("INCORRECT_STATE", {
        object: id,
        property: `power_state of ${nameOf(vm)} after its migration`,
        actual,
        expected: "Running",
      });
  });
}
