import { XapiError, XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { LeaveParts } from "./empty-host.js";
import type { TaskContext } from "../tasks/task-context.js";
import {
  isGone,
  makePlan,
  turnsLeft,
  type RollingPlan,
} from "./rolling-plan.js";
import type { Turn } from "./rolling-plan.js";
import { moveBack } from "./move-back.js";
import { movesEnded } from "./moves-ended.js";
import {
  readAutomaticSettings,
  suspendSettings,
  restoreSettings,
} from "./suspended-settings.js";
import type { RestartParts } from "./restart.js";
import { rebootInTurn, type TurnParts } from "./rolling-turn.js";
import type { RollingPlans } from "./rolling-plans.js";
import { checkLeaving } from "./check-leaving.js";
import { nameOf } from "./stuck-vms.js";

export interface RollingParts extends RestartParts {
  readonly work: TaskContext;
  readonly plans: RollingPlans;
  readonly evacuations?: LeaveParts["evacuations"];
}

export interface RollingRequest {
  /** Absent: as in the reboot that is resumed. */
  readonly shutdownPinnedVms?: boolean | undefined;
  /**
   * True: resumes the last one, also of a server that crashed. False: starts a
   * new one. Absent: resumes the last one if it stopped.
   */
  readonly resume?: boolean | undefined;
}

/**
 * Rolling reboot: evacuates and reboots the hosts of a pool one after another,
 * the coordinator first, and migrates the VMs back at the end. It stops at the
 * first failure; the next call resumes it.
 * @throws XoError INCORRECT_STATE, VMS_CANNOT_LEAVE: nothing was done;
 * STOPPED_MIDWAY: with the host and the step
 */
export function rollingReboot(
  pool: PoolObject,
  hosts: () => Promise<readonly PoolObject[]>,
  parts: RollingParts,
  request: RollingRequest,
): Promise<void> {
  return parts.plans.alone(pool.id, async () => {
    const plan = await begin(pool, hosts, parts, request);
    await new RollingReboot(plan, parts).run();
  });
}

async function begin(
  pool: PoolObject,
  hosts: () => Promise<readonly PoolObject[]>,
  parts: RollingParts,
  { resume, shutdownPinnedVms }: RollingRequest,
): Promise<RollingPlan> {
  const takeOver = resume === true;
  const left = parts.plans.left(pool.id, { takeOver });
  if (left !== undefined && resume !== false) {
    const { stopped, ...going } = left;
    const since = new Date(left.since).toISOString();
    parts.work.info(`resumes the rolling reboot of ${since}`, { stopped });
    return shutdownPinnedVms === undefined
      ? going
      : { ...going, shutdownPinnedVms };
  }
  const since = parts.clock.now();
  const made = makePlan(pool, await hosts(), {
    shutdownPinnedVms: shutdownPinnedVms === true,
  });
  return { ...made, since, aside: left?.aside ?? {} };
}

class RollingReboot {
  readonly #parts: RollingParts;
  #plan: RollingPlan;
  #at = "the beginning";

  constructor(plan: RollingPlan, parts: RollingParts) {
    this.#plan = plan;
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { objects, plans, work } = this.#parts;
    const left = turnsLeft(this.#plan, objects);
    await this.#checkGuests(left);
    const before = await this.#begin();
    try {
      const hosts = this.#plan.turns.map(({ host }) => host);
      await movesEnded(hosts, this.#parts);
      await this.#rebootAll(left);
      await this.#step("migrate VMs back", (own) => this.#moveBack(own));
      await this.#step("restore HA and auto power-on", (own) =>
        this.#putBack(own),
      );
    } catch (error) {
      await this.#stop(error as Error);
      throw this.#toStop(error as Error);
    }
    work.info(`${before} hosts rebooted`);
    await plans.forget(this.#plan.pool);
  }

  /** Refuses the reboot unless every VM of every host can be evacuated or shut down. */
  async #checkGuests(turns: readonly Turn[]): Promise<void> {
    const { objects } = this.#parts;
    const hosts = turns.flatMap(({ host, startTime }) => {
      const now = objects.get(host, "host");
      const { power_state, startTime: started } = now.object;
      return power_state === "Running" && started === startTime ? [now] : [];
    });
    const { shutdownPinnedVms } = this.#plan;
    await checkLeaving(hosts, this.#parts, { shutdownPinnedVms });
  }

  /** @returns how many hosts there are left */
  async #begin(): Promise<number> {
    const { objects, work } = this.#parts;
    const pool = objects.get(this.#plan.pool, "pool");
    // Settings that were disabled before are not visible on the pool.
    const aside = {
      ...this.#plan.aside,
      ...(await readAutomaticSettings(pool)),
    };
    await this.#keep({ aside });
    await work.persistState({ pool: this.#plan.pool });
    await suspendSettings(pool, aside);
    return turnsLeft(this.#plan, objects).length;
  }

  async #rebootAll(turns: readonly Turn[]): Promise<void> {
    const { objects, work, signal } = this.#parts;
    for (const [done, turn] of turns.entries()) {
      if (signal.aborted) throw new XoError("ABORTED", { what: "it" });
      const host = objects.get(turn.host, "host");
      const name = `reboot ${nameOf(host)}`;
      await work.part(name, (part) =>
        rebootInTurn(turn, this.#for(part, host)),
      );
      work.progress((done + 1) / (turns.length + 1));
    }
  }

  #for(work: TaskContext, host: PoolObject): TurnParts {
    return {
      ...this.#parts,
      objects: this.#parts.objects.forTask(work),
      work,
      shutdownPinnedVms: this.#plan.shutdownPinnedVms,
      shutDown: this.#plan.shutDown[host.id] ?? [],
      keepShutDown: (vms) =>
        this.#keep({ shutDown: { ...this.#plan.shutDown, [host.id]: vms } }),
      at: (step) => {
        this.#at = `${nameOf(host)}: ${step}`;
      },
    };
  }

  /** @param run gets the objects, for the part of the task that this step is */
  async #step(
    name: string,
    run: (objects: PoolObjects) => Promise<void>,
  ): Promise<void> {
    const { objects, work } = this.#parts;
    this.#at = name;
    await work.part(name, (part) => run(objects.forTask(part)));
  }

  async #moveBack(objects: PoolObjects): Promise<void> {
    const { work } = this.#parts;
    for (const { host, guests } of this.#plan.turns)
      try {
        await moveBack(objects.get(host, "host"), guests, { objects, work });
      } catch (error) {
        if (!isGone(error)) throw error;
      }
  }

  async #putBack(objects: PoolObjects): Promise<void> {
    const pool = objects.get(this.#plan.pool, "pool");
    await restoreSettings(pool, this.#plan.aside, objects);
    await this.#keep({ aside: {} });
  }

  /** Persists where it stopped, and restores HA and auto power-on. */
  async #stop(error: Error): Promise<void> {
    const { objects, work, signal } = this.#parts;
    const at = this.#at;
    const stopped = `${at}: ${error.message}`;
    await this.#keep({ stopped }).catch((cause: unknown) => {
      const { message } = cause as Error;
      work.warn(`where the reboot stopped could not be persisted: ${message}`);
    });
    const hasAside = Object.keys(this.#plan.aside).length > 0;
    if (!hasAside || signal.aborted) return;
    await this.#putBack(objects).catch((cause: unknown) => {
      const { message } = cause as Error;
      work.warn(`HA or auto power-on is still disabled: ${message}`);
    });
  }

  #toStop(error: Error): XoError {
    const { objects } = this.#parts;
    const { turns } = this.#plan;
    const cause =
      error instanceof XapiError
        ? { code: error.code, params: error.params }
        : error instanceof XoError
          ? { code: error.code, data: error.data }
          : {};
    let left: string[] | undefined;
    try {
      left = turnsLeft(this.#plan, objects).map(({ host }) => host);
    } catch {
      // The pool cannot be read: the error does not list the remaining hosts.
    }
    const done =
      left &&
      turns.map(({ host }) => host).filter((host) => !left.includes(host));
    const told = { what: "the rolling reboot", where: this.#at };
    const data = { ...told, reason: error.message, cause, done, left };
    return new XoError("STOPPED_MIDWAY", data, error);
  }

  async #keep(change: Partial<RollingPlan>): Promise<void> {
    this.#plan = { ...this.#plan, ...change };
    await this.#parts.plans.keep(this.#plan);
  }
}
