import type { WallClock } from "@xo-server/kit";
import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { pause } from "../../tasks/pause.js";
import { isHandleInvalid } from "../../vms/rollback.js";
import type { RestoreTestReport, TestMethod } from "./restore-test.js";

/**
 * VMs with this tag report by a script. The names are those of Xen Orchestra, so
 * that its scripts work.
 */
const SCRIPT_TAG = "xo-backup-health-check-xenstore";
/** `planned` before the start; the script writes `running`, then `success` or `failure`. */
const SCRIPT_KEY = "vm-data/xo-backup-health-check";
/** The script may write here why it failed. */
const SCRIPT_ERROR_KEY = "vm-data/xo-backup-health-check-error";

const POLL_MS = 2_000;
/** Maximum length of a text that a guest has written. */
const MAX_ERROR = 1_000;

type Answer = Pick<RestoreTestReport, "success" | "error">;

interface GuestParts {
  readonly clock: WallClock;
  readonly signal: AbortSignal;
  /** In milliseconds. */
  readonly timeout: number;
}

/**
 * Prepares a VM before it is started.
 * @returns what will report: the guest tools, or a script
 */
export async function prepareGuest(xapi: Xapi, vm: Ref): Promise<TestMethod> {
  const tags = (await xapi.call("VM.get_tags", [vm])) as readonly string[];
  if (!tags.includes(SCRIPT_TAG)) return "tools";
  await writeXenstore(xapi, vm, SCRIPT_KEY, "planned");
  return "script";
}

/**
 * Waits until the guest of a started VM reports.
 * @throws XapiError; the reason of the signal
 */
export async function awaitGuest(
  xapi: Xapi,
  vm: Ref,
  method: TestMethod,
  { clock, signal, timeout }: GuestParts,
): Promise<Omit<RestoreTestReport, "durationMs">> {
  const startedAt = clock.now();
  const check = method === "script" ? checkScript : checkTools;
  while (clock.now() - startedAt < timeout) {
    signal.throwIfAborted();
    const answer = await check(xapi, vm);
    const bootMs = clock.now() - startedAt;
    if (answer !== undefined) return { ...answer, method, bootMs };
    await pause(clock, POLL_MS, signal);
  }
  const within = `did not report within ${Math.round(timeout / 1_000)} seconds`;
  return {
    success: false,
    method,
    error:
      method === "script"
        ? `the script of the guest ${within}`
        : `the guest tools ${within}: the guest has not booted, or has no guest tools`,
  };
}

/** A VM has guest metrics from the first report of its tools on. */
async function checkTools(xapi: Xapi, vm: Ref): Promise<Answer | undefined> {
  const ref = (await xapi.call("VM.get_guest_metrics", [vm])) as Ref;
  if (ref === "" || ref === "OpaqueRef:NULL") return undefined;
  try {
    const isDetected = await xapi.call(
      "VM_guest_metrics.get_PV_drivers_detected",
      [ref],
    );
    return isDetected === true ? { success: true } : undefined;
  } catch (error) {
    // A later report has replaced the metrics.
    if (isHandleInvalid(error)) return undefined;
    throw error;
  }
}

/** XAPI copies what the guest writes below `vm-data/` into the VM's xenstore_data. */
async function checkScript(xapi: Xapi, vm: Ref): Promise<Answer | undefined> {
  const data = (await xapi.call("VM.get_xenstore_data", [vm])) as Readonly<
    Record<string, string>
  >;
  const answer = data[SCRIPT_KEY];
  if (answer === "success") return { success: true };
  if (answer !== "failure") return undefined;
  const reason = data[SCRIPT_ERROR_KEY]?.slice(0, MAX_ERROR);
  return {
    success: false,
    error: `the script of the guest reports a failure${reason === undefined ? "" : `: ${reason}`}`,
  };
}

async function writeXenstore(
  xapi: Xapi,
  vm: Ref,
  key: string,
  value: string,
): Promise<void> {
  await xapi.call("VM.remove_from_xenstore_data", [vm, key]);
  await xapi.call("VM.add_to_xenstore_data", [vm, key, value]);
}
