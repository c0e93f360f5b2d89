import { XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { undoAfter } from "../operations/undo.js";
import { enableAgain } from "../hosts/evacuate-host.js";
import { eachOf } from "../hosts/guests.js";
import { callIgnoringConnectionLoss, untilBack } from "../hosts/restart.js";
import { isNoSuchObject } from "../objects/no-such-object.js";
import type { Turn } from "./rolling-record.js";
import { verifyHost, type VerifyParts } from "./verify-host.js";

export interface TurnParts extends VerifyParts {
  readonly work: TaskContext;
  /** Ids of VMs that were shut down for this host. */
  readonly shutDown: () => readonly string[];
  readonly keepShutDown: (vms: readonly string[]) => Promise<void>;
  /** Called with the name of each step. */
  readonly at: (step: string) => void;
}

/**
 * Takes an evacuated host down: installs its updates, reboots it, waits until it is
 * enabled, verifies it, and starts the VMs that were shut down for it. If an
 * earlier attempt is rebooting the host, waits for it.
 */
export async function takeDown(turn: Turn, parts: TurnParts): Promise<void> {
  const host = () => parts.objects.get(turn.host, "host");
  await restartVmsOnFailure(turn.host, parts, async () => {
    if (!isRebooting(host(), turn)) await updateAndTakeDown(turn.host, parts);
    // Started even if the task is cancelled, because XAPI enables HA only when the host is up.
    const { signal } = new AbortController();
    await step(parts, "wait for the host", (own) =>
      untilBack(turn.host, turn.startTime, { ...own, signal }),
    );
    if (parts.signal.aborted) throw new XoError("ABORTED", { what: "it" });
    await step(parts, "verify the host", (own) => verifyHost(turn, own));
  });
  await startAgain(turn.host, parts);
}

/** Whether an earlier attempt has rebooted the host, or is rebooting it. */
export function isRebooting(
  { object }: PoolObject,
  { startTime }: Turn,
): boolean {
  const { power_state, current_operations } = object;
  return (
    power_state !== "Running" ||
    object["startTime"] !== startTime ||
    Object.values(current_operations as object).includes("reboot")
  );
}

/** Takes a host down and updates it; after a failure the host is enabled again. */
async function updateAndTakeDown(
  host: string,
  parts: TurnParts,
): Promise<void> {
  const { isUpdate, patches } = parts;
  const now = (own: TurnParts) => own.objects.get(host, "host");
  try {
    if (isUpdate && patches !== undefined)
      await step(parts, "install updates", (own) =>
        patches.install(now(own), {}, own),
      );
    await step(parts, "reboot", (own) =>
      callIgnoringConnectionLoss(now(own), "host.reboot"),
    );
  } catch (error) {
    throw await undoAfter(error, [enableAgain(now(parts))]);
  }
}

/**
 * Runs code, and starts VMs that were shut down if it fails, also if the task was
 * cancelled.
 * @throws the error of `run`; LEFT_BEHIND with it as cause, if VMs could not be
 * started
 */
export async function restartVmsOnFailure(
  host: string,
  parts: TurnParts,
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    const { objects } = parts;
    throw await undoAfter(error, [
      {
        left: "VMs that were shut down for the reboot",
        run: () =>
          startAll(host, { ...parts, objects: objects.untracked }, true),
      },
    ]);
  }
}

/** @param run gets the parts for the part of the task that shows this step */
export function step<T>(
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

async function startAgain(host: string, parts: TurnParts): Promise<void> {
  if (parts.shutDown().length === 0) return;
  await step(parts, "start the VMs that were shut down", (own) =>
    startAll(host, own, false),
  );
}

/**
 * Starts VMs that were shut down for a host. VMs that are running or deleted are
 * skipped.
 * @param isAnywhere whether XAPI may choose another host, because the host may be
 * down
 */
export async function startAll(
  host: string,
  {
    objects,
    shutDown,
    keepShutDown,
  }: Pick<TurnParts, "objects" | "shutDown" | "keepShutDown">,
  isAnywhere: boolean,
): Promise<void> {
  const vms = shutDown();
  if (vms.length === 0) return;
  await eachOf(vms, async (id) => {
    try {
      await startOne(objects.get(id, "VM"), objects.get(host, "host"), {
        isAnywhere,
      });
    } catch (error) {
      if (!isNoSuchObject(error)) throw error;
    }
  });
  await keepShutDown([]);
}

async function startOne(
  { xapi, ref }: PoolObject,
  host: PoolObject,
  { isAnywhere }: { readonly isAnywhere: boolean },
): Promise<void> {
  // Read from XAPI: the mirror may not show the shutdown yet.
  const state = await xapi.call("VM.get_power_state", [ref]);
  if (state !== "Halted") return;
  try {
    await xapi.callAsync("VM.start_on", [ref, host.ref, false, false]);
  } catch (error) {
    if (!isAnywhere) throw error;
    await xapi.callAsync("VM.start", [ref, false, false]);
  }
}
