import type { Catalog, ViewObject } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Clock } from "../../clock.js";
import type { PoolObjects } from "../../objects/pool-objects.js";
import type { AuthenticatedUser } from "../../auth/authenticated-user.js";
import type { Caller } from "../caller.js";
import { fetchObjects } from "../fetch-objects.js";
import { inParallel } from "../in-parallel.js";
import type { SnapshotBody } from "../job-body.js";
import { markAsOwn, ownSnapshots, type OwnSnapshot } from "./own-snapshots.js";
import { LocalDays, toForget } from "./retention.js";

export interface PolicyParts {
  readonly catalog: Catalog;
  readonly objects: PoolObjects;
  readonly clock: Clock;
}

/** A job that takes snapshots, and when its days begin. */
export interface Policy {
  readonly jobId: string;
  readonly jobName: string;
  readonly body: SnapshotBody;
  readonly timezone?: string | undefined;
}

/** What would be done to one VM. */
export interface PlannedSnapshot {
  readonly vm: string;
  readonly vmName: string;
  readonly create: string;
  readonly delete: readonly { readonly id: string; readonly name: string }[];
}

const EXCLUDED = ["xo:no-bak"];
const DEFAULT_CONCURRENCY = 2;
/** Of a VM that nobody has told the name of. */
const NAME = "{job} {date} {time}";
/** XAPI's names are as long as one likes; pages are not. */
const LONGEST_NAME = 250;

/** Takes a snapshot of each VM, then deletes those of its own that nothing keeps. A failure at one VM leaves the others. */
export class SnapshotPolicy {
  readonly #parts: PolicyParts;
  readonly #policy: Policy;

  constructor(parts: PolicyParts, policy: Policy) {
    this.#parts = parts;
    this.#policy = policy;
  }

  /** @returns VMs that were left since the run is over */
  async run(caller: Caller): Promise<number> {
    const vms = await this.#vms(caller.person());
    const { concurrency = DEFAULT_CONCURRENCY } = this.#policy.body;
    return inParallel(
      vms,
      { concurrency, isOver: () => caller.isOver },
      // The log has what failed.
      (vm) => this.#runOne(vm, caller).catch(() => undefined),
    );
  }

  /** What a run would do now. */
  async plan(person: AuthenticatedUser): Promise<PlannedSnapshot[]> {
    const vms = await this.#vms(person);
    return vms.map(({ id, object }) => {
      const coming = { id: "", time: this.#parts.clock.now() };
      const gone =
        object === undefined ? [] : this.#toDelete(this.#own(object), coming);
      return {
        vm: id,
        vmName: nameOf(object),
        create: this.#nameFor(object, coming.time),
        delete: gone.map((one) => ({ id: one.id, name: one.name })),
      };
    });
  }

  async #runOne({ id, object }: Target, caller: Caller): Promise<void> {
    const { objects, clock } = this.#parts;
    const time = clock.now();
    const made = await caller.call("vm.snapshot", {
      id,
      name: this.#nameFor(object, time),
      ...(this.#takesMemory(object) ? { saveMemory: true } : {}),
    });
    const snapshot = String(made);
    await this.#mark(snapshot, time, caller);
    const vm = objects.get(id, "VM").object;
    const others = this.#own(vm).filter((one) => one.id !== snapshot);
    for (const { id } of this.#toDelete(others, { id: snapshot, time })) {
      if (caller.isOver) return;
      await caller.call("vm.delete", { id }).catch(() => undefined);
    }
  }

  /** What is not marked would never be deleted: then it does not stay either. */
  async #mark(id: string, time: number, caller: Caller): Promise<void> {
    const { objects } = this.#parts;
    try {
      await markAsOwn(objects.get(id, "VM-snapshot"), this.#policy.jobId, time);
    } catch (error) {
      await caller.call("vm.delete", { id }).catch(() => undefined);
      await caller.step("mark", { id }, () => Promise.reject(error as Error));
    }
  }

  #own(vm: ViewObject): OwnSnapshot[] {
    return ownSnapshots(this.#parts.objects, vm, this.#policy.jobId);
  }

  /** The new one stays, whatever the clocks said when the others were made. */
  #toDelete<T extends { id: string; time: number }>(
    others: readonly T[],
    made: { readonly id: string; readonly time: number },
  ): T[] {
    const { body, timezone } = this.#policy;
    const all: (T | typeof made)[] = [...others, made];
    const gone = new Set(toForget(all, body.retention, timezone));
    return others.filter((one) => gone.has(one));
  }

  /** Those that are named are tried even if they are not there: the log tells. */
  async #vms(person: AuthenticatedUser): Promise<Target[]> {
    const { vms = [], filter, excludedTags = EXCLUDED } = this.#policy.body;
    const found =
      filter === undefined
        ? []
        : await fetchObjects(this.#parts.catalog, person, {
            filter,
            type: "VM",
          });
    const targets = new Map<string, Target>();
    for (const object of found)
      targets.set(idOf(object), { id: idOf(object), object });
    for (const id of vms) targets.set(id, { id, object: this.#find(id) });
    const isExcluded = ({ object }: Target) => {
      const tags = (object?.["tags"] ?? []) as readonly unknown[];
      return excludedTags.some((tag) => tags.includes(tag));
    };
    const wanted = [...targets.values()].filter((one) => !isExcluded(one));
    if (wanted.length > 0) return wanted;
    throw new XoError("INVALID_PARAMETERS", { reason: "no VM matches" });
  }

  #find(id: string): ViewObject | undefined {
    const entry = this.#parts.catalog.get(id);
    return entry?.type === "VM"
      ? (JSON.parse(entry.json.toString()) as ViewObject)
      : undefined;
  }

  #takesMemory(vm: ViewObject | undefined): boolean {
    return (
      this.#policy.body.withMemory === true && vm?.["power_state"] === "Running"
    );
  }

  #nameFor(vm: ViewObject | undefined, time: number): string {
    const { jobName, body, timezone } = this.#policy;
    const day = new LocalDays(timezone).of(time);
    const words = new Map([
      ["job", jobName],
      ["vm", nameOf(vm)],
      ["date", day.date],
      ["time", day.time],
    ]);
    return (body.namePattern ?? NAME)
      .replace(/\{(\w+)\}/g, (whole, word: string) => words.get(word) ?? whole)
      .slice(0, LONGEST_NAME);
  }
}

/** A VM that is to have a snapshot; without its object: it is not there. */
interface Target {
  readonly id: string;
  readonly object: ViewObject | undefined;
}

function idOf(object: ViewObject): string {
  return String(object["id"]);
}

function nameOf(object: ViewObject | undefined): string {
  const name = object?.["name_label"];
  return typeof name === "string" ? name : "";
}
