import { toDatetime, type SimulatorClock } from "./clock.js";
import type { Database } from "./database.js";
import type { Random } from "./random.js";
import type { XapiMap } from "./xapi-value.js";

/**
 * Key of a VM's other_config in which churn stores the time of its change:
 * milliseconds of Unix time with a fraction. Readers compute the delay from it.
 */
export const CHANGED_AT = "sim:changed_at";

const TICK_MS = 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** Bounds the objects that churn leaves behind: a busy pool has one task for this number of VMs. */
const VMS_PER_TASK = 25;
const MIN_TASKS = 4;
const MAX_TASKS = 200;
const MAX_MESSAGES = 100;

type Step = (churn: ChurnState) => void;

interface ChurnState {
  readonly db: Database;
  readonly clock: SimulatorClock;
  readonly random: Random;
  readonly tasks: string[];
  readonly messages: string[];
  /** References by class, taken at the first change: churn touches what was there then. */
  readonly refs: Map<string, readonly string[]>;
  /** Bytes that hosts have less free than their domains leave, by host_metrics. */
  readonly wobbles: Map<string, number>;
}

/** What changes in a busy pool, with weights: metrics above all, then VMs, tasks, messages. */
const mix: readonly (readonly [weight: number, step: Step])[] = [
  [29, changeVm],
  [1, changePowerState],
  [22, changeVmMetrics],
  [16, changeGuestMetrics],
  [8, changeHostMetrics],
  [6, changeVbd],
  [6, changeSr],
  [8, changeTask],
  [4, changeMessage],
];
const totalWeight = mix.reduce((sum, [weight]) => sum + weight, 0);

/** Changes objects all the time: `perSecond` changes a second, the same ones for the same seed. */
export class Churn {
  readonly #state: ChurnState;
  #perSecond = 0;
  #timer: unknown;
  #last = 0;
  /** Changes owed, with a fraction. */
  #debt = 0;

  constructor(db: Database, clock: SimulatorClock, random: Random) {
    this.#state = {
      db,
      clock,
      random,
      tasks: [],
      messages: [],
      refs: new Map(),
      wobbles: new Map(),
    };
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** 0 stops. */
  set(perSecond: number): void {
    this.stop();
    this.#perSecond = perSecond;
    this.#last = this.#state.clock.now();
    if (perSecond > 0) this.#schedule();
  }

  stop(): void {
    this.#state.clock.clearTimeout(this.#timer);
    this.#perSecond = 0;
  }

  /** Makes a number of changes at once. */
  change(count: number): void {
    for (let i = 0; i < count; i++) this.#pick()(this.#state);
  }

  #schedule(): void {
    this.#timer = this.#state.clock.setTimeout(() => {
      const now = this.#state.clock.now();
      // After a long pause of the process the debt is not made up for.
      const elapsed = Math.min(1000, now - this.#last);
      this.#last = now;
      this.#debt += (elapsed * this.#perSecond) / 1000;
      const count = Math.floor(this.#debt);
      this.#debt -= count;
      this.change(count);
      this.#schedule();
    }, TICK_MS);
  }

  #pick(): Step {
    let at = this.#state.random.integer(totalWeight);
    for (const [weight, step] of mix) {
      if (at < weight) return step;
      at -= weight;
    }
    return changeVm;
  }
}

/** A reference of the class that is still alive, or undefined. */
function pick(
  { db, random, refs }: ChurnState,
  className: string,
): string | undefined {
  let all = refs.get(className);
  if (all === undefined) {
    all = [...db.refs(className)];
    refs.set(className, all);
  }
  const ref = all[random.integer(all.length)];
  return ref !== undefined && db.find(className, ref) !== undefined
    ? ref
    : undefined;
}

function changeVm(state: ChurnState): void {
  const ref = pick(state, "VM");
  if (ref === undefined) return;
  const config = state.db.get("VM", ref)["other_config"] as XapiMap;
  const now = state.clock.now().toFixed(3);
  state.db.update("VM", ref, {
    other_config: { ...config, [CHANGED_AT]: now },
  });
}

/** A running VM is paused, a paused one unpaused; others stay. */
function changePowerState(state: ChurnState): void {
  const ref = pick(state, "VM");
  if (ref === undefined) return;
  const { is_control_domain, power_state: before } = state.db.get("VM", ref);
  if (is_control_domain === true) return;
  if (before === "Running")
    state.db.update("VM", ref, { power_state: "Paused" });
  else if (before === "Paused")
    state.db.update("VM", ref, { power_state: "Running" });
}

function changeVmMetrics(state: ChurnState): void {
  const ref = pick(state, "VM_metrics");
  if (ref === undefined) return;
  const before = Number(state.db.get("VM_metrics", ref)["memory_actual"]);
  // A guest that runs gives a little back to its host now and then.
  const allocated = Math.ceil(before / GIB) * GIB;
  const left = allocated - state.random.integer(64) * MIB;
  state.db.update("VM_metrics", ref, {
    memory_actual: before === 0 ? 0 : left,
    last_updated: toDatetime(state.clock.now()),
  });
}

function changeGuestMetrics(state: ChurnState): void {
  const ref = pick(state, "VM_guest_metrics");
  if (ref === undefined) return;
  const other = state.db.get("VM_guest_metrics", ref)["other"] as XapiMap;
  state.db.update("VM_guest_metrics", ref, {
    other: { ...other, "data-updated": String(state.clock.now()) },
    last_updated: toDatetime(state.clock.now()),
  });
}

/** Free memory decreases a little and increases again: the memory of domains is constant. */
function changeHostMetrics(state: ChurnState): void {
  const ref = pick(state, "host_metrics");
  if (ref === undefined) return;
  const { db, random, clock, wobbles } = state;
  const { memory_free } = db.get("host_metrics", ref);
  const free = Number(memory_free) + (wobbles.get(ref) ?? 0);
  const wobble = Math.min(Math.max(0, free), random.integer(32) * MIB);
  wobbles.set(ref, wobble);
  db.update("host_metrics", ref, {
    memory_free: free - wobble,
    last_updated: toDatetime(clock.now()),
  });
}

function changeVbd(state: ChurnState): void {
  const ref = pick(state, "VBD");
  if (ref === undefined) return;
  const count = state.random.integer(1_000_000);
  state.db.update("VBD", ref, {
    runtime_properties: { "vdi-type": "vhd", requests: String(count) },
  });
}

function changeSr(state: ChurnState): void {
  const ref = pick(state, "SR");
  if (ref === undefined) return;
  const { physical_size, physical_utilisation } = state.db.get("SR", ref);
  const size = Number(physical_size);
  const step = size * 0.002 * (state.random.next() - 0.5);
  const used = Math.floor(Number(physical_utilisation) + step);
  state.db.update("SR", ref, {
    physical_utilisation: Math.min(size, Math.max(0, used)),
  });
}

/** A task starts, progresses, or ends and is destroyed. */
function changeTask(state: ChurnState): void {
  const { db, clock, random, tasks } = state;
  const at = random.integer(mostTasks(state));
  const ref = tasks[at];
  if (ref === undefined || db.find("task", ref) === undefined) {
    tasks[at] = db.create("task", {
      name_label: "Async.VM.clean_reboot",
      created: toDatetime(clock.now()),
      status: "pending",
      type: "<none/>",
      backtrace: "()",
      ...residence(state),
    });
  } else if (random.integer(3) === 0) db.destroy("task", ref);
  else {
    const { progress } = db.find("task", ref) as { progress: number };
    const left = 1 - progress;
    db.update("task", ref, { progress: progress + left * random.next() });
  }
}

function mostTasks({ refs }: ChurnState): number {
  const target = Math.ceil((refs.get("VM")?.length ?? 0) / VMS_PER_TASK);
  return Math.min(MAX_TASKS, Math.max(MIN_TASKS, target));
}

function residence(state: ChurnState): { resident_on?: string } {
  const ref = pick(state, "host");
  return ref === undefined ? {} : { resident_on: ref };
}

function changeMessage(state: ChurnState): void {
  const { db, clock, random, messages } = state;
  if (messages.length >= MAX_MESSAGES) {
    const oldest = messages.shift()!;
    if (db.find("message", oldest) !== undefined) db.destroy("message", oldest);
    return;
  }
  const vm = pick(state, "VM");
  if (vm === undefined) return;
  messages.push(
    db.create("message", {
      name: random.integer(2) === 0 ? "VM_REBOOTED" : "ALARM",
      priority: 3 + random.integer(3),
      cls: "VM",
      obj_uuid: db.get("VM", vm)["uuid"]!,
      timestamp: toDatetime(clock.now()),
      body: "",
    }),
  );
}
