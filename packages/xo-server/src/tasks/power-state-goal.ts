import { XapiError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { XapiTask } from "./xapi-task.js";

/** The power state of a VM after a XAPI method has succeeded. */
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

/** The current state of the object of a XAPI task, compared with its goal. */
export interface GoalState {
  /** Human-readable. */
  readonly text: string;
  /** Absent: the state of the object does not show whether the method succeeded. */
  readonly isReached?: boolean;
}

/** @throws XoError: the pool could not be read */
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
    if (error instanceof XapiError) return { text: ", its VM was deleted" };
    throw error;
  }
}
