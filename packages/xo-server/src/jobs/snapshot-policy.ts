import type { WallClock } from "@xo-server/kit";
import type { Catalog, ViewObject } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import type { RunCaller } from "./caller.js";
import { fetchObjects } from "./fetch-objects.js";
import { inParallel } from "./in-parallel.js";
import type { SnapshotBody } from "./job-body.js";
import {
  markAsOwn,
  nextOrder,
  ownSnapshots,
  type OwnSnapshot,
} from "./own-snapshots.js";
import { LocalDays, toDelete } from "./retention.js";

export interface PolicyParts {
  readonly catalog: Catalog;
  readonly objects: PoolObjects;
  readonly clock: WallClock;
}

/** A snapshot job with its time zone. */
interface SnapshotPolicyJob {
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
/** Default name template. */
const NAME = "{job} {date} {time}";
/** XAPI does not limit the length of names. */
const LONGEST_NAME = 250;

/**
 * Takes a snapshot of each VM, then deletes its own snapshots by the retention.
 * A failure does not affect other VMs.
 */
export class SnapshotPolicy {
  readonly #parts: PolicyParts;
  readonly #policy: SnapshotPolicyJob;

  constructor(parts: PolicyParts, policy: SnapshotPolicyJob) {
    this.#parts = parts;
    this.#policy = policy;
  }

  /** @returns number of VMs skipped because the run was over */
  async run(caller: RunCaller): Promise<number> {
    const vms = await this.#vms(caller.user());
    const { concurrency = DEFAULT_CONCURRENCY } = this.#policy.body;
    return inParallel(
      vms,
      { concurrency, isOver: () => caller.isOver },
      // Failures are in the log of the run.
      (vm) => this.#runOne(vm, caller).catch(() => undefined),
    );
  }

  /** Returns what a run would do now. */
  async plan(user: AuthenticatedUser): Promise<PlannedSnapshot[]> {
    const vms = await this.#vms(user);
    return vms.map(({ id, object }) => {
      const time = this.#parts.clock.now();
      const expired =
        object === undefined ? [] : this.#toDelete(this.#own(object), time);
      return {
        vm: id,
        vmName: nameOf(object),
        create: this.#nameFor(object, time),
        delete: expired.map((one) => ({ id: one.id, name: one.name })),
      };
    });
  }

  async #runOne({ id, object }: Target, caller: RunCaller): Promise<void> {
    const { objects, clock } = this.#parts;
    const time = clock.now();
    const created = await caller.call("vm.snapshot", {
      id,
      name: this.#nameFor(object, time),
      ...(this.#takesMemory(object) ? { saveMemory: true } : {}),
    });
    const snapshot = String(created);
    const vm = objects.get(id, "VM").object;
    const others = this.#own(vm).filter((one) => one.id !== snapshot);
    const order = nextOrder(others, time);
    await this.#mark(snapshot, { time, order }, caller);
    for (const { id } of this.#toDelete(others, time)) {
      if (caller.isOver) return;
      // The caller logs the failure in the run.
      await caller.call("vm.delete", { id }).catch(() => undefined);
    }
  }

  /** An unmarked snapshot would never be deleted: it is deleted immediately. */
  async #mark(
    id: string,
    at: Pick<OwnSnapshot, "time" | "order">,
    caller: RunCaller,
  ): Promise<void> {
    const { objects } = this.#parts;
    try {
      await markAsOwn(objects.get(id, "VM-snapshot"), this.#policy.jobId, at);
    } catch (error) {
      // The failure is in the log of the run, like the reason below.
      await caller.call("vm.delete", { id }).catch(() => undefined);
      await caller.step("mark", { id }, () => Promise.reject(error as Error));
    }
  }

  #own(vm: ViewObject): OwnSnapshot[] {
    return ownSnapshots(this.#parts.objects, vm, this.#policy.jobId);
  }

  /** Of the others, as soon as there is a snapshot of this time: that one is the newest. */
  #toDelete(others: readonly OwnSnapshot[], time: number): OwnSnapshot[] {
    const { body, timezone } = this.#policy;
    const created = { id: "", time, order: nextOrder(others, time) };
    const all: (OwnSnapshot | typeof created)[] = [...others, created];
    const expired = new Set(toDelete(all, body.retention, timezone));
    return others.filter((one) => expired.has(one));
  }

  /**
   * VMs listed by id are tried even if they do not exist, so that the log has
   * the error.
   */
  async #vms(user: AuthenticatedUser): Promise<Target[]> {
    const { vms = [], filter, excludedTags = EXCLUDED } = this.#policy.body;
    const found =
      filter === undefined
        ? []
        : await fetchObjects(this.#parts.catalog, user, {
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
    const requested = [...targets.values()].filter((one) => !isExcluded(one));
    if (requested.length > 0) return requested;
    throw new XoError("NO_VM_MATCHES");
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
      ["vm", nameOf(vm).slice(0, LONGEST_NAME)],
      ["date", day.date],
      ["time", day.time],
    ]);
    return (body.namePattern ?? NAME)
      .replace(/\{(\w+)\}/g, (whole, word: string) => words.get(word) ?? whole)
      .slice(0, LONGEST_NAME);
  }
}

/** A VM to take a snapshot of; `object` is absent if it does not exist. */
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
