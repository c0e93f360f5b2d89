import type { WallClock } from "@xo-server/kit";
import { XoError, type ErrorCode } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { pause } from "../tasks/pause.js";

export interface RestartParts {
  readonly objects: PoolObjects;
  readonly clock: WallClock;
  /** Aborted when the task is cancelled. */
  readonly signal: AbortSignal;
}

const POLL_MS = 1_000;
/** Large servers need up to a quarter of an hour for their memory check. */
const REBOOT_TIMEOUT_MS = 30 * 60_000;

/** Errors of calls to a coordinator that shuts down. */
const CONNECTION_LOSS: ReadonlySet<string> = new Set<ErrorCode>([
  "CALL_TIMEOUT",
  "CONNECTION_LOST",
  "CONNECTION_REFUSED",
  "CONNECTION_TIMEOUT",
  "NOT_CONNECTED",
  "NO_CANDIDATE",
  "RESULT_UNKNOWN",
  "TASK_LOST",
  "UNREACHABLE",
]);

/**
 * Calls an operation that shuts the host down, so that a lost connection counts as
 * success.
 * @throws XapiError if the pool refuses it
 */
export async function callIgnoringConnectionLoss(
  { xapi, ref }: PoolObject,
  method: "host.reboot" | "host.restart_agent" | "host.shutdown",
): Promise<void> {
  await xapi.callAsync(method, [ref]).catch(ignoreConnectionLoss);
}

/**
 * Ignores a lost connection, which is expected when the host shuts down.
 * @throws any other error
 */
export function ignoreConnectionLoss(error: unknown): void {
  if (!(error instanceof XoError) || !CONNECTION_LOSS.has(error.code))
    throw error;
}

/**
 * Reboots a host and waits until it is enabled again.
 * @throws XoError CALL_TIMEOUT, ABORTED; XapiError
 */
export async function rebootAndWait(
  host: PoolObject,
  parts: RestartParts,
): Promise<void> {
  await callIgnoringConnectionLoss(host, "host.reboot");
  await untilBack(host.id, host.object["startTime"], parts);
}

/**
 * Waits until a host has started again and is enabled.
 * @param before its start time before the reboot
 * @throws XoError CALL_TIMEOUT, ABORTED
 */
export async function untilBack(
  id: string,
  before: unknown,
  parts: RestartParts,
): Promise<void> {
  await until(parts, "host.reboot", () => {
    const now = parts.objects.get(id, "host").object;
    return now["power_state"] === "Running" && now["startTime"] !== before;
  });
  // A host that was disabled before its shutdown may be disabled after its
  // start.
  await until(parts, "host.enable", async () => {
    const { xapi, ref } = parts.objects.get(id, "host");
    await xapi.call("host.enable", [ref]);
    return true;
  });
}

/** Restarts the toolstack of a host. VMs keep running. */
export async function restartAgent(
  host: PoolObject,
  parts: RestartParts,
): Promise<void> {
  await callIgnoringConnectionLoss(host, "host.restart_agent");
  const { agentStartTime } = host.object;
  await until(
    parts,
    "host.restart_agent",
    () =>
      parts.objects.get(host.id, "host").object["agentStartTime"] !==
      agentStartTime,
  );
}

/**
 * Polls every second for up to half an hour; errors of the poll count as "not yet".
 * @throws XoError CALL_TIMEOUT, ABORTED; the error of the poll
 */
export async function until(
  { clock, signal }: RestartParts,
  method: string,
  isMet: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = clock.now() + REBOOT_TIMEOUT_MS;
  for (;;) {
    try {
      if (await isMet()) return;
    } catch (error) {
      if (clock.now() >= deadline) throw error;
    }
    if (signal.aborted) throw new XoError("ABORTED", { what: method });
    if (clock.now() >= deadline)
      throw new XoError("CALL_TIMEOUT", { method, ms: REBOOT_TIMEOUT_MS });
    await pause(clock, POLL_MS, signal);
  }
}
