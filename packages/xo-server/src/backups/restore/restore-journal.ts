import type { Ref } from "@xo-server/model";
import type { TaskContext } from "../../tasks/task-context.js";

/** A disk that is being restored. */
interface DiskStep {
  readonly vdi: Ref;
  /** Whether all data was written. */
  readonly isWhole: boolean;
}

/** The objects that a restore has created in the pool, persisted before the restore continues. */
export class RestoreJournal {
  /** Whether a previous run of the server has begun the restore. */
  readonly isResumed: boolean;
  readonly #task: Pick<TaskContext, "persistStep">;
  readonly #steps: ReadonlyMap<string, unknown>;

  /** @param steps of the previous run of the server */
  constructor(
    task: Pick<TaskContext, "persistStep">,
    steps?: ReadonlyMap<string, unknown>,
  ) {
    this.isResumed = steps !== undefined;
    this.#task = task;
    this.#steps = steps ?? new Map<string, unknown>();
  }

  get vm(): Ref | undefined {
    return (this.#steps.get("vm") as { ref: Ref } | undefined)?.ref;
  }

  disk(name: string): DiskStep | undefined {
    return this.#steps.get(`disk ${name}`) as DiskStep | undefined;
  }

  writeVm(ref: Ref): Promise<void> {
    return this.#task.persistStep("vm", { ref });
  }

  /** The disk of the VM that this one replaces. */
  replaced(name: string): Ref | undefined {
    return (this.#steps.get(`old ${name}`) as { vdi: Ref } | undefined)?.vdi;
  }

  writeReplaced(name: string, vdi: Ref): Promise<void> {
    return this.#task.persistStep(`old ${name}`, { vdi });
  }

  writeDisk(name: string, step: DiskStep): Promise<void> {
    return this.#task.persistStep(`disk ${name}`, step);
  }
}
