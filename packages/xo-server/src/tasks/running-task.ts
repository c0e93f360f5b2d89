import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { Task } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { StepJournal } from "./step-journal.js";
import { TaskNode } from "./task-node.js";
import { bounded, toView } from "./task-view.js";

/** What is being done, for whom, to what. */
export interface TaskSubject {
  readonly name: string;
  readonly objectType: string;
  readonly objectId: string;
  readonly userId: string | undefined;
  /** Without secrets: they are shown. */
  readonly params: object;
  /** Name of the declared operation that it is: what it is resumed by. */
  readonly operation?: string;
}

export interface RunningTaskOptions {
  /** What tells this server's tasks from those of others. */
  readonly owner: string;
  readonly clock: Pick<Clock, "now">;
  readonly onChange: (task: RunningTask) => void;
  /** Resolves when it is written down as it is. */
  readonly onKeep: (task: RunningTask) => Promise<void>;
  readonly steps: Pick<StepJournal, "of">;
}

/** What is stored of a task, besides the columns of its row. */
interface StoredBody {
  readonly properties?: Partial<TaskSubject>;
  readonly kept?: object;
}

/** A task of this server that has not ended. */
export class RunningTask {
  readonly id: string;
  readonly node: TaskNode;
  readonly subject: TaskSubject;
  /** What its operation has kept for after a restart. */
  readonly persistedState: object | undefined;
  readonly #owner: string;
  readonly #abort = new AbortController();

  /** @param before the same task, of this server's last run */
  constructor(
    subject: TaskSubject,
    { owner, clock, onChange, onKeep, steps }: RunningTaskOptions,
    before?: Task,
  ) {
    this.id = before?.id ?? makeId(clock);
    this.subject = subject;
    this.persistedState = (before?.body as StoredBody | undefined)?.kept;
    this.#owner = owner;
    // Everything that a bulk has under way listens.
    setMaxListeners(0, this.#abort.signal);
    const params = bounded(subject.params);
    this.node = new TaskNode({
      id: this.id,
      properties: { ...subject, params, type: "xo:rest-api:action" },
      signal: this.#abort.signal,
      clock,
      onChange: () => {
        onChange(this);
      },
      onKeep: () => onKeep(this),
      steps: steps.of(this.id),
      ...(before === undefined ? {} : { before: toView(before) }),
      kept: this.persistedState,
    });
  }

  /** One that this server's last run has left. */
  static restore(before: Task, options: RunningTaskOptions): RunningTask {
    const { properties = {} } = before.body as StoredBody;
    const { objectType = "", params = {}, operation } = properties;
    const subject = {
      name: before.name,
      objectId: before.objectId ?? "",
      userId: before.userId,
      objectType,
      params,
      ...(operation === undefined ? {} : { operation }),
    };
    return new RunningTask(subject, options, before);
  }

  /** Somebody has given it up. */
  get isAborted(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Those who do it hear of it; how it ends is theirs to say. */
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

function makeId(clock: Pick<Clock, "now">): string {
  return `${clock.now().toString(36)}-${randomBytes(6).toString("hex")}`;
}
