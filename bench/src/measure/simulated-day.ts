import type { DerivedPool } from "@xo-server/xapi-sim";

/** Changes in one answer: mostly few, sometimes many, as after a pause. */
const USUAL_BATCH = 60;
const LARGE_BATCH = 600;
const LARGE_SHARE = 0.02;

/** Deals out the changes of one simulated hour after the other to all pools. */
export class Hours {
  readonly #random: () => number;
  #left = 0;
  #underway = 0;
  #isOver = false;
  #waiting: (() => void)[] = [];
  #whenDone: (() => void) | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Resolves when this number of changes has been made and received. */
  async pass(changes: number): Promise<void> {
    this.#left = changes;
    const done = new Promise<void>((resolve) => (this.#whenDone = resolve));
    this.#wake();
    await done;
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Number of changes that a pool makes next; waits for the next hour. 0: the day is over. */
  async take(): Promise<number> {
    while (this.#left === 0) {
      if (this.#isOver) return 0;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    const most = this.#random() < LARGE_SHARE ? LARGE_BATCH : USUAL_BATCH;
    const count = Math.min(this.#left, 1 + Math.floor(this.#random() * most));
    this.#left -= count;
    this.#underway += count;
    return count;
  }

  /** The inventory has taken them. */
  done(count: number): void {
    this.#underway -= count;
    if (this.#left === 0 && this.#underway === 0) this.#whenDone?.();
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

type Edit = (json: string, number: number) => string;

/** What changes, as the simulator's churn does it; `weight` of 100. */
const edits: readonly {
  readonly className: string;
  readonly weight: number;
  readonly edit: Edit;
}[] = [
  { className: "VM", weight: 30, edit: intoMap("other_config") },
  { className: "VM_metrics", weight: 22, edit: number("memory_actual") },
  { className: "VM_guest_metrics", weight: 16, edit: intoMap("other") },
  { className: "host_metrics", weight: 8, edit: number("memory_free") },
  { className: "VBD", weight: 6, edit: intoMap("runtime_properties") },
  { className: "SR", weight: 6, edit: number("physical_utilisation") },
];
/** The rest of 100: tasks come and go. */
const LIVE_TASKS = 20;

/**
 * Creates responses of event.from with changes: records of every length, tasks that appear and
 * disappear.
 */
export class ChangeGenerator {
  readonly #random: () => number;
  readonly #refs = new Map<DerivedPool, Map<string, readonly string[]>>();
  readonly #tasks = new Map<DerivedPool, string[]>();
  #created = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** @param counts live objects by class; updated */
  answer(
    pool: DerivedPool,
    counts: Map<string, number>,
    { count, token }: { readonly count: number; readonly token: string },
  ): readonly Buffer[] {
    // Of one object there is one event in an answer.
    const events = new Map<string, string>();
    for (let i = 0; i < count; i++) this.#change(pool, counts, events);
    const refs = [...counts].map(([name, n]) => `"${name.toLowerCase()}":${n}`);
    return [
      Buffer.from(
        `{"jsonrpc":"2.0","result":{"events":[${[...events.values()].join(",")}],"valid_ref_counts":{${refs.join(",")}},"token":"${token}"},"id":0}`,
      ),
    ];
  }

  #change(
    pool: DerivedPool,
    counts: Map<string, number>,
    events: Map<string, string>,
  ): void {
    let at = this.#random() * 100;
    for (const { className, weight, edit } of edits) {
      at -= weight;
      if (at >= 0) continue;
      const refs = this.#refsOf(pool, className);
      const ref = refs[Math.floor(this.#random() * refs.length)];
      if (ref === undefined) return;
      const json = edit(
        pool.json(className, ref)!.toString("latin1"),
        Math.floor(this.#random() * 10 ** (1 + this.#random() * 14)),
      );
      events.set(ref, event(className, "mod", ref, json));
      return;
    }
    this.#changeTask(pool, counts, events);
  }

  /** One is added, or the oldest is removed. */
  #changeTask(
    pool: DerivedPool,
    counts: Map<string, number>,
    events: Map<string, string>,
  ): void {
    const tasks = this.#tasks.get(pool) ?? [];
    this.#tasks.set(pool, tasks);
    const known = this.#refsOf(pool, "task")[0];
    if (known === undefined) return;
    const isFull = tasks.length >= LIVE_TASKS;
    const ref = isFull ? tasks.shift()! : this.#newRef();
    counts.set("task", counts.get("task")! + (isFull ? -1 : 1));
    if (isFull) {
      // Created and deleted within one response: not reported.
      const wasNew = events.get(ref)?.includes('"operation":"add"') === true;
      if (wasNew) events.delete(ref);
      else events.set(ref, event("task", "del", ref));
      return;
    }
    tasks.push(ref);
    const json = pool
      .json("task", known)!
      .toString("latin1")
      .replace(/"uuid":"[^"]*"/, `"uuid":"${ref.slice(-36)}"`);
    events.set(ref, event("task", "add", ref, json));
  }

  #newRef(): string {
    const number = (this.#created++).toString(16).padStart(12, "0");
    return `OpaqueRef:ffffffff-0000-4000-8000-${number}`;
  }

  #refsOf(pool: DerivedPool, className: string): readonly string[] {
    const byClass = this.#refs.get(pool) ?? new Map<string, string[]>();
    this.#refs.set(pool, byClass);
    let refs = byClass.get(className);
    if (refs === undefined)
      byClass.set(className, (refs = [...pool.refs(className)]));
    return refs;
  }
}

function event(
  className: string,
  operation: "add" | "mod" | "del",
  ref: string,
  json?: string,
): string {
  const snapshot = json === undefined ? "" : `,"snapshot":${json}`;
  return `{"id":"1","timestamp":"0.0","class":"${className.toLowerCase()}","operation":"${operation}","ref":"${ref}"${snapshot}}`;
}

/** Adds an entry at the front of a map. */
function intoMap(field: string): Edit {
  const head = `"${field}":{`;
  return (json, value) => {
    const at = json.indexOf(head) + head.length;
    const comma = json[at] === "}" ? "" : ",";
    return `${json.slice(0, at)}"sim:changed":"${value}"${comma}${json.slice(at)}`;
  };
}

function number(field: string): Edit {
  const pattern = new RegExp(`"${field}":\\d+`);
  return (json, value) => json.replace(pattern, `"${field}":${value}`);
}
