import type { VmwareServer } from "@xo-server/backup";
import { XapiError, XoError } from "@xo-server/model";
import type { TaskContext } from "../tasks/task-context.js";
import { importForeignVm, type ForeignImport } from "./import-foreign-vm.js";

/** Begins the key of a step, before the id of the VM. Its state: `KeptImport`. */
export const IMPORT_STEP = "import ";

export interface VmwareImport {
  readonly server: VmwareServer;
  /** Managed object ids. */
  readonly vms: readonly string[];
  readonly stopsSource: boolean;
  /** VMs at the same time. */
  readonly concurrency: number;
  /** Begins no further VM after a failure. */
  readonly stopsOnError: boolean;
  /** What all imports have in common. */
  readonly common: Omit<ForeignImport, "source" | "onProgress">;
  /** The id that clients know. */
  readonly idOf: (ref: string) => Promise<string>;
}

interface VmwareImportResult {
  /** Ids of the new VMs, by the id of the VM at the source. */
  readonly created: Readonly<Record<string, string>>;
  /** Reasons, by the id of the VM at the source. */
  readonly failed: Readonly<Record<string, string>>;
}

/** Imports VMs of a VMware server, each as a part of the task. A failure of one is not one of the others. */
export async function importVmwareVms(
  order: VmwareImport,
  task: TaskContext,
): Promise<VmwareImportResult> {
  const created: Record<string, string> = {};
  const failed: Record<string, string> = {};
  const waiting = [...new Set(order.vms)];
  const importNext = async (): Promise<void> => {
    for (let vm = waiting.shift(); vm !== undefined; vm = waiting.shift()) {
      const isOver = order.stopsOnError && Object.keys(failed).length > 0;
      try {
        if (isOver) throw new XoError("ABORTED", { what: "the import" });
        created[vm] = await importOne(order, vm, task);
      } catch (error) {
        task.signal.throwIfAborted();
        failed[vm] = reasonOf(error);
      }
    }
  };
  await Promise.all(Array.from({ length: order.concurrency }, importNext));
  return { created, failed };
}

/** @returns the id of the new VM */
export function importOne(
  { server, stopsSource, common, idOf }: VmwareImport,
  vm: string,
  task: TaskContext,
): Promise<string> {
  return task.part(`Import of ${vm}`, async (part) => {
    let isStopped = false;
    const ref = await importForeignVm(
      {
        ...common,
        source: { type: "vmware", server, vm, stop: stopsSource },
        onProgress({ done = 0, total = 0, stopped }) {
          if (stopped === 1 && !isStopped) {
            isStopped = true;
            part.info(`${vm} was stopped at the source`);
          }
          if (total > 0) part.progress(Math.min(0.99, done / total));
        },
      },
      {
        signal: part.signal,
        // The progress is that of what was read.
        progress: () => undefined,
        persistState: (state) => part.persistStep(IMPORT_STEP + vm, state),
      },
    );
    return idOf(ref);
  });
}

function reasonOf(error: unknown): string {
  return error instanceof XoError || error instanceof XapiError
    ? error.message
    : "an internal error";
}
