import type { WallClock } from "@xo-server/kit";
import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { Task } from "@xo-server/store";
import type { HeldLease } from "../cluster/held-lease.js";
import { requireState } from "./require-state.js";
import type { StepJournal, StepWriter } from "./step-journal.js";
import { TaskNode } from "./task-node.js";
import { bounded, toName, toView } from "./task-view.js";

/** What a task does, its user, and its object. */
export interface TaskSubject {
  readonly name: string;
  readonly objectType: string;
  readonly objectId: string;
  readonly userId: string | undefined;
  /** Shown to clients: without secrets. */
  readonly params: object;
  /** Name of the operation: its `resume` continues the task after a restart. */
  readonly operation?: string;
  /** Parameters of `bulk.run` that run it again. */
  readonly retry?: object;
}

export interface RunningTaskOptions {
  /** Distinguishes tasks of this server from those of others. */
  readonly owner: string;
  readonly clock: Pick<WallClock, "now">;
  readonly onChange: (task: RunningTask) => void;
  /** Resolves when the task is persisted. @throws XoError TASK_TAKEN_OVER */
  readonly onKeep: (task: RunningTask) => Promise<void>;
  readonly steps: Pick<StepJournal, "of">;
  /**
   * Whether an operation has a `resume`: its tasks persist a state before they begin
   * work. Default: no operation has.
   */
  readonly canResume?: ((operation: string) => boolean) | undefined;
  /** The current lease on the tasks of this server; absent: there is only one server. */
  readonly lease?: () => HeldLease;
}

/** The part of a stored task that is not in columns of its row. */
interface StoredBody {
  readonly properties?: Partial<TaskSubject>;
  readonly kept?: object;
}

/** A running task of this server. */
export class RunningTask {
  readonly id: string;
  readonly node: TaskNode;
  readonly subject: TaskSubject;
  /** The state that its operation has persisted. */
  readonly persistedState: object | undefined;
  /** If this lease is lost, the task belongs to another server. */
  readonly lease: HeldLease | undefined;
  /** Resolves after the end of the task: whether it is in the database; false: another server continues the task. */
  readonly isStored: Promise<boolean>;
  /** To be called by `Tasks` only. */
  readonly setStored: (isStored: boolean) => void;
  readonly #owner: string;
  readonly #abort = new AbortController();

  /** @param before the same task in the previous run of the server */
  constructor(
    subject: TaskSubject,
    options: RunningTaskOptions,
    before?: Task,
  ) {
    const { owner, clock, onChange, onKeep, lease } = options;
    this.id = before?.id ?? makeId(clock);
    this.subject = { ...subject, name: toName(subject.name) };
    this.persistedState = (before?.body as StoredBody | undefined)?.kept;
    this.#owner = owner;
    this.lease = lease?.();
    let setStored: (isStored: boolean) => void = () => undefined;
    this.isStored = new Promise((resolve) => (setStored = resolve));
    this.setStored = setStored;
    // Each running call of a bulk adds a listener.
    setMaxListeners(0, this.#abort.signal);
    const params = bounded(subject.params);
    this.node = new TaskNode({
      id: this.id,
      properties: { ...this.subject, params, type: "xo:rest-api:action" },
      signal: this.#abort.signal,
      clock,
      onChange: () => {
        onChange(this);
      },
      onKeep: () => onKeep(this),
      steps: this.#createSteps(options, before !== undefined),
      lease: this.lease,
      ...(before === undefined ? {} : { before: toView(before) }),
      kept: this.persistedState,
    });
  }

  #createSteps(
    { steps, canResume }: RunningTaskOptions,
    isRestored: boolean,
  ): StepWriter {
    const writer = steps.of(this.id, this.lease);
    const { operation } = this.subject;
    // A restored task without a state is not resumed: it only waits for its XAPI tasks.
    if (
      isRestored ||
      operation === undefined ||
      canResume?.(operation) !== true
    )
      return writer;
    return requireState(writer, operation, () => this.node.isPrepared);
  }

  /** Restores a task that the previous run of the server left pending. */
  static restore(before: Task, options: RunningTaskOptions): RunningTask {
    const { properties = {} } = before.body as StoredBody;
    const { objectType = "", params = {}, operation, retry } = properties;
    const subject = {
      name: before.name,
      objectId: before.objectId ?? "",
      userId: before.userId,
      objectType,
      params,
      ...(operation === undefined ? {} : { operation }),
      ...(retry === undefined ? {} : { retry }),
    };
    return new RunningTask(subject, options, before);
  }

  /** Whether the task was cancelled. */
  get isAborted(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Aborts the signal; the code of the task decides how it ends. */
  abort(): void {
    if (this.#abort.signal.aborted) return;
    this.node.noteAbortion();
    this.#abort.abort();
  }

  toTask(): Task {
    const { node: work, subject } = this;
    const { userId, objectId, name } = subject;
    return {
      id: this.id,
      owner: this.#owner,
      name,
      status: work.status,
      ...(userId === undefined ? {} : { userId }),
      objectId,
      startedAt: work.startedAt,
      updatedAt: work.updatedAt,
      ...(work.endedAt === undefined ? {} : { endedAt: work.endedAt }),
      body: work.stored(),
    };
  }
}

function makeId(clock: Pick<WallClock, "now">): string {
  return `${clock.now().toString(36)}-${randomBytes(6).toString("hex")}`;
}
