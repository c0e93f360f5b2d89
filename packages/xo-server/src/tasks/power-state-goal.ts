import { XapiError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { XapiTask } from "./xapi-task.js";

/** In which power state a VM is when XAPI has done what it was asked for. */
const powerStateGoals: ReadonlyMap<string, string> = new Map([
  ["VM.start", "Running"],
  ["VM.start_on", "Running"],
  ["VM.resume", "Running"],
  ["VM.resume_on", "Running"],
  ["VM.unpause", "Running"],
  ["VM.pause", "Paused"],
  ["VM.suspend", "Suspended"],
  ["VM.clean_shutdown", "Halted"],
  ["VM.hard_shutdown", "Halted"],
]);

/** How the object of a flight is now. */
export interface GoalState {
  /** For people. */
  readonly text: string;
  /** Absent: what was to become of it is not seen on it. */
  readonly isReached?: boolean;
}

/** @throws XoError: the pool could not be asked */
export async function readGoalState(
  xapi: Xapi,
  { method, object }: XapiTask,
): Promise<GoalState> {
  if (object === undefined || !method.startsWith("VM.")) return { text: "" };
  try {
    const state = String(await xapi.call("VM.get_power_state", [object]));
    const goal = powerStateGoals.get(method);
    const text = `, its VM is ${state} now`;
    return goal === undefined ? { text } : { text, isReached: state === goal };
  } catch (error) {
    if (error instanceof XapiError) return { text: ", its VM is no more" };
    throw error;
  }
}
