import type { CallContext } from "../../operation.js";
import { map, without } from "../../records/fields.js";
import {
  refreshHost,
  refreshPool,
  refreshSr,
  refreshVbd,
  refreshVdi,
  refreshVif,
  refreshVm,
} from "./refresh.js";

/** The object that an operation works on. */
interface Target {
  readonly className: "VM" | "VDI" | "VBD" | "VIF" | "SR" | "host" | "pool";
  readonly ref: string;
}

/**
 * Runs `work` while the object shows `operation` in its current_operations,
 * under the task's reference; a synchronous call has an invisible task. The
 * entry is removed when the work ends.
 */
export async function whileBusy<T>(
  context: CallContext,
  { className, ref }: Target,
  operation: string,
  work: () => Promise<T>,
): Promise<T> {
  const { db } = context;
  const task = context.task?.ref ?? db.newRef();
  db.update(className, ref, {
    current_operations: {
      ...map(db.get(className, ref), "current_operations"),
      [task]: operation,
    },
  });
  refresh(context, { className, ref });
  try {
    return await work();
  } finally {
    const record = db.find(className, ref);
    if (record !== undefined) {
      db.update(className, ref, {
        current_operations: without(map(record, "current_operations"), task),
      });
      refresh(context, { className, ref });
    }
  }
}

/** Waits in steps, with the progress of the task going from `from` to `to`. */
export async function progressDuring(
  context: CallContext,
  ms: number,
  [from, to]: readonly [number, number] = [0, 0.95],
): Promise<void> {
  const steps = Math.max(1, Math.min(10, Math.round(ms / 250)));
  for (let step = 1; step <= steps; step++) {
    await context.delay(ms / steps);
    context.task?.progress(from + ((to - from) * step) / steps);
  }
}

const refreshers = {
  VM: refreshVm,
  VDI: refreshVdi,
  VBD: refreshVbd,
  VIF: refreshVif,
  SR: refreshSr,
  host: refreshHost,
  pool: refreshPool,
} as const;

function refresh({ db }: CallContext, { className, ref }: Target): void {
  refreshers[className](db, ref);
}
