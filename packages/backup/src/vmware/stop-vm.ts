import { setTimeout as pause } from "node:timers/promises";
import { RepositoryError } from "../errors.js";
import { readObject, textOf } from "./property-collector.js";
import type { ManagedObject, SoapClient } from "./soap-client.js";

const POLL_MS = 2_000;
/** Time for the guest to shut down, and for the server to power off, in ms. */
const SHUTDOWN_MS = 300_000;
const POWER_OFF_MS = 60_000;

/** Shuts the guest down; without tools, or if that takes too long, powers it off. @throws RepositoryError */
export async function stopVm(
  client: SoapClient,
  vm: ManagedObject,
  signal: AbortSignal,
): Promise<void> {
  const isRequested = await client.call("ShutdownGuest", vm, "").then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof RepositoryError)) throw error;
      return false;
    },
  );
  if (isRequested && (await isOffWithin(SHUTDOWN_MS, client, vm, signal)))
    return;
  await client.call("PowerOffVM_Task", vm, "");
  if (await isOffWithin(POWER_OFF_MS, client, vm, signal)) return;
  throw new RepositoryError(
    "transfer-failed",
    `${client.name}: VM ${vm.id} was not powered off`,
  );
}

async function isOffWithin(
  ms: number,
  client: SoapClient,
  vm: ManagedObject,
  signal: AbortSignal,
): Promise<boolean> {
  for (let waited = 0; ; waited += POLL_MS) {
    if (await isOff(client, vm)) return true;
    if (waited >= ms) return false;
    await pause(POLL_MS, undefined, { signal });
  }
}

/** Reads the power state from the server. A suspended VM is not off. */
export async function isOff(
  client: SoapClient,
  vm: ManagedObject,
): Promise<boolean> {
  const name = "runtime.powerState";
  return textOf(await readObject(client, vm, [name]), name) === "poweredOff";
}
