import { randomBytes } from "node:crypto";
import type { Task } from "@xo-server/store";
import type { Clock } from "../clock.js";
import { TaskNode } from "./task-node.js";
import { bounded } from "./task-view.js";

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
}

/** A task of this server that has not ended. */
export class RunningTask {
  readonly id: string;
  readonly work: TaskNode;
  readonly subject: TaskSubject;
  readonly #owner: string;
  readonly #abort = new AbortController();

  constructor(
    subject: TaskSubject,
    { owner, clock, onChange, onKeep }: RunningTaskOptions,
  ) {
    this.id = `${clock.now().toString(36)}-${randomBytes(6).toString("hex")}`;
    this.subject = subject;
    this.#owner = owner;
    const params = bounded(subject.params);
    this.work = new TaskNode({
      id: this.id,
      properties: { ...subject, params, type: "xo:rest-api:action" },
      signal: this.#abort.signal,
      clock,
      onChange: () => {
        onChange(this);
      },
      onKeep: () => onKeep(this),
    });
  }

  /** Those who do it hear of it; how it ends is theirs to say. */
  abort(): void {
    if (this.#abort.signal.aborted) return;
    this.work.noteAbortion();
    this.#abort.abort();
  }

  toTask(): Task {
    const { work, subject } = this;
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
