import type { PoolObject } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { undoAfter } from "../operations/undo.js";
import {
  enableAgain,
  leaveOf,
  moveAway,
  type LeaveParts,
} from "./empty-host.js";
import { eachOf } from "./guests.js";
import { goDown, untilBack, type RestartParts } from "./restart.js";
import { isGone, type Turn } from "./rolling-plan.js";
import { allStuck, refuseStuck, stuckOn } from "./stuck-vms.js";

export interface TurnParts extends RestartParts {
  readonly work: TaskContext;
  readonly evacuations?: LeaveParts["evacuations"];
  readonly shutdownPinnedVms: boolean;
  /** Ids of VMs that an earlier attempt has shut down. */
  readonly shutDown: readonly string[];
  readonly keepShutDown: (vms: readonly string[]) => Promise<void>;
  /** Called with the name of each step. */
  readonly at: (step: string) => void;
}

/**
 * Evacuates a host, reboots it, waits until it is enabled, and starts the VMs
 * that were shut down for it.
 */
export async function rebootInTurn(
  turn: Turn,
  parts: TurnParts,
): Promise<void> {
  const host = () => parts.objects.get(turn.host, "host");
  const isDown = isRebooting(host(), turn);
  const shutDown = isDown
    ? parts.shutDown
    : await shutDownPinned(host(), parts);
  const down = { ...parts, shutDown };
  await orStartAgain(turn.host, down, async () => {
    if (!isDown) await goDownEmpty(host(), down);
    await step(down, "wait for the host", (own) =>
      untilBack(turn.host, turn.startTime, own),
    );
  });
  await startAgain(turn.host, down);
}

/** @throws the error of `run`; LEFT_BEHIND with it as cause, if VMs could not be started again */
async function orStartAgain(
  host: string,
  parts: TurnParts,
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    const quietly = { ...parts, at: () => undefined };
    throw await undoAfter(error, [
      {
        left: "VMs that were shut down for the reboot",
        run: () => startAgain(host, quietly),
      },
    ]);
  }
}

/** @param run gets the same parts, for the part of the task that this step is */
function step<T>(
  parts: TurnParts,
  name: string,
  run: (own: TurnParts) => Promise<T>,
): Promise<T> {
  const { at, work, objects } = parts;
  at(name);
  return work.part(name, (part) =>
    run({ ...parts, work: part, objects: objects.forTask(part) }),
  );
}

/** An earlier attempt has rebooted the host, or is rebooting it. */
function isRebooting({ object }: PoolObject, { startTime }: Turn): boolean {
  const { power_state, current_operations } = object;
  return (
    power_state !== "Running" ||
    object["startTime"] !== startTime ||
    Object.values(current_operations as object).includes("reboot")
  );
}

async function shutDownPinned(
  host: PoolObject,
  parts: TurnParts,
): Promise<readonly string[]> {
  const { objects, shutdownPinnedVms, shutDown, keepShutDown } = parts;
  if (!shutdownPinnedVms) return shutDown;
  const stuck = await stuckOn(host, objects);
  if (stuck.length === 0) return shutDown;
  const all = [...new Set([...shutDown, ...stuck.map(({ vm }) => vm.id)])];
  await keepShutDown(all);
  const run = (own: TurnParts) =>
    eachOf(stuck, ({ vm }) =>
      own.objects
        .get(vm.id, "VM")
        .xapi.callAsync("VM.clean_shutdown", [vm.ref]),
    );
  await orStartAgain(host.id, { ...parts, shutDown: all }, () =>
    step(parts, "shut down VMs that cannot leave", run),
  );
  return all;
}

/** After a failure the host is enabled again. */
async function goDownEmpty(host: PoolObject, parts: TurnParts): Promise<void> {
  const now = (own: TurnParts) => own.objects.get(host.id, "host");
  const { xapi, ref } = host;
  await xapi.call("host.disable", [ref]);
  try {
    await step(parts, "evacuate", async (own) => {
      const leave = await leaveOf(now(own), own);
      const stuck = allStuck(now(own), { stuck: [], leave }, own.objects);
      refuseStuck(stuck, leave?.conflict);
      await moveAway(now(own), { parts: own, leave });
    });
    await step(parts, "reboot", (own) => goDown(now(own), "host.reboot"));
  } catch (error) {
    throw await undoAfter(error, [enableAgain(host)]);
  }
}

/** VMs that run already or are deleted are skipped. */
async function startAgain(host: string, parts: TurnParts): Promise<void> {
  const { objects, shutDown, keepShutDown } = parts;
  if (shutDown.length === 0) return;
  const { ref } = objects.get(host, "host");
  await step(parts, "start the VMs that were shut down", (own) =>
    eachOf(shutDown, async (id) => {
      try {
        const vm = own.objects.get(id, "VM");
        // Read from XAPI: the mirror may not show the shutdown yet.
        const state = await vm.xapi.call("VM.get_power_state", [vm.ref]);
        if (state === "Halted")
          await vm.xapi.callAsync("VM.start_on", [vm.ref, ref, false, false]);
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }),
  );
  await keepShutDown([]);
}
