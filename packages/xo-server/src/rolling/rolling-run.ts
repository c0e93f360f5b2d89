import type { Action } from "@xo-server/placement";
import { XapiError, XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { isGone } from "../objects/is-gone.js";
import { moveBack } from "../hosts/move-back.js";
import { movesEnded } from "../hosts/moves-ended.js";
import { nameOf, refuseStuck } from "../hosts/stuck-vms.js";
import {
  readAutomaticSettings,
  restoreSettings,
  suspendSettings,
} from "../hosts/suspended-settings.js";
import { emptyWave } from "./empty-wave.js";
import { preFlight, type PreFlight } from "./pre-flight.js";
import { turnsLeft, type RollingRecord, type Turn } from "./rolling-record.js";
import type { RollingParts } from "./rolling-parts.js";
import { isRebooting, takeDown, type TurnParts } from "./turn.js";

interface Wave {
  readonly turns: readonly Turn[];
  /** Absent: XAPI chooses where VMs go. */
  readonly actions?: readonly Action[] | undefined;
  readonly shutDown: PreFlight["shutDown"];
}

/** One run: wave after wave, each planned from the state of the pool at its time. */
export class RollingRun {
  readonly #parts: RollingParts;
  #record: RollingRecord;
  #at = "the beginning";

  constructor(record: RollingRecord, parts: RollingParts) {
    this.#record = record;
    this.#parts = parts;
  }

  get #kind(): "reboot" | "update" {
    return this.#record.kind ?? "reboot";
  }

  async run(): Promise<void> {
    const { objects, records, work } = this.#parts;
    const failures = await this.#failuresToSurvive();
    this.#record = { ...this.#record, failures };
    await this.#refreshTurns();
    const checked = await this.#preFlight(this.#upTurns());
    refuseStuck(checked.stuck, checked.conflict);
    await this.#begin();
    const before = turnsLeft(this.#record, objects).length;
    try {
      const hosts = this.#record.turns.map(({ host }) => host);
      await movesEnded(hosts, this.#parts);
      await this.#runWaves(before);
      if (this.#record.migrateBack !== false)
        await this.#step("migrate VMs back", (own) => this.#moveBack(own));
      await this.#step("restore HA and auto power-on", (own) =>
        this.#putBack(own),
      );
    } catch (error) {
      await this.#stop(error as Error);
      throw this.#toStop(error as Error);
    }
    work.info(
      `${before} hosts ${this.#kind === "update" ? "updated" : "rebooted"}`,
    );
    await this.#keepLast();
    await records.forget(this.#record.pool);
  }

  /** Hosts that run and have not been rebooted by this run. */
  #upTurns(): Turn[] {
    const { objects } = this.#parts;
    return turnsLeft(this.#record, objects).filter(
      (turn) => !isRebooting(objects.get(turn.host, "host"), turn),
    );
  }

  #preFlight(turns: readonly Turn[], waves?: number): Promise<PreFlight> {
    const { objects } = this.#parts;
    const { pool, shutdownPinnedVms, parallel = 1, failures } = this.#record;
    return preFlight(
      {
        pool,
        hosts: turns.map(({ host }) => objects.get(host, "host")),
        shutdownPinnedVms,
        parallel,
        failures: failures ?? 1,
        ...(waves === undefined ? {} : { waves }),
      },
      this.#parts,
    );
  }

  /** HA's setting, also if an earlier attempt has disabled HA. */
  async #failuresToSurvive(): Promise<number> {
    const { objects } = this.#parts;
    const { xapi, ref } = objects.get(this.#record.pool, "pool");
    const method = "pool.get_ha_host_failures_to_tolerate";
    const count = Number(await xapi.call(method, [ref]));
    return Math.max(1, this.#record.failures ?? 1, count || 0);
  }

  /**
   * Hosts that another user has rebooted since the run stopped have their turn if they lack
   * updates.
   */
  async #refreshTurns(): Promise<void> {
    const { objects, patches } = this.#parts;
    if (this.#kind !== "update") return;
    const turns = new Map(this.#record.turns.map((turn) => [turn.host, turn]));
    for (const turn of turnsLeft(this.#record, objects)) {
      const host = objects.get(turn.host, "host");
      const { startTime, power_state } = host.object;
      if (power_state !== "Running" || startTime === turn.startTime) continue;
      const missing = (await patches?.again(host)) ?? [];
      if (missing.some(({ id }) => turn.updates?.includes(id)))
        turns.set(turn.host, { ...turn, startTime: startTime as number });
    }
    this.#record = { ...this.#record, turns: [...turns.values()] };
  }

  async #begin(): Promise<void> {
    const { objects, work } = this.#parts;
    const pool = objects.get(this.#record.pool, "pool");
    // Settings that were disabled before are not visible on the pool.
    const suspended = {
      ...this.#record.suspended,
      ...(await readAutomaticSettings(pool)),
    };
    await this.#keep({ suspended });
    await work.persistState({ pool: this.#record.pool, kind: this.#kind });
    await suspendSettings(pool, suspended);
  }

  async #runWaves(before: number): Promise<void> {
    const { objects, work, signal } = this.#parts;
    for (;;) {
      const left = turnsLeft(this.#record, objects);
      work.progress((before - left.length) / (before + 1));
      if (left.length === 0) return;
      if (signal.aborted) throw new XoError("ABORTED", { what: "it" });
      const wave = await this.#nextWave(left);
      const hosts = wave.turns.map(({ host }) => objects.get(host, "host"));
      const names = hosts.map(nameOf).join(", ");
      await work.part(`${this.#kind} ${names}`, (part) =>
        this.#runWave(wave, hosts, part),
      );
    }
  }

  /** Hosts that an earlier attempt has taken down come first. */
  async #nextWave(left: readonly Turn[]): Promise<Wave> {
    const { objects } = this.#parts;
    const down = left.filter((turn) =>
      isRebooting(objects.get(turn.host, "host"), turn),
    );
    if (down.length > 0) return { turns: down, actions: [], shutDown: [] };
    this.#at = "the plan";
    const checked = await this.#preFlight(left, 1);
    const planned = checked.plan?.waves[0];
    const hosts = planned?.hosts ?? [this.#firstOf(left)];
    const isIn = (host: string) => hosts.includes(host);
    refuseStuck(
      checked.stuck.filter(({ host }) => isIn(host.id)),
      checked.conflict,
    );
    return {
      turns: left.filter(({ host }) => isIn(host)),
      actions: planned?.actions,
      shutDown: checked.shutDown.filter(({ host }) => isIn(host.id)),
    };
  }

  #firstOf(left: readonly Turn[]): string {
    const { objects } = this.#parts;
    const { master } = objects.get(this.#record.pool, "pool").object;
    const found = left.find(({ host }) => host === master) ?? left[0]!;
    return found.host;
  }

  async #runWave(
    { turns, actions, shutDown }: Wave,
    hosts: readonly PoolObject[],
    work: TaskContext,
  ): Promise<void> {
    const { objects, clock } = this.#parts;
    const startedAt = clock.now();
    const isOne = hosts.length === 1;
    const failed: { error: Error; at: string }[] = [];
    const up = turns.filter(
      (turn) => !isRebooting(objects.get(turn.host, "host"), turn),
    );
    if (up.length > 0)
      await emptyWave(
        { hosts, actions, shutDown },
        this.#for(work, hosts),
        (one) => this.#for(work, [one]),
      );
    const emptyAt = clock.now();
    await Promise.all(
      turns.map(async (turn, index) => {
        const host = hosts[index]!;
        let at = "";
        const run = async (part: TaskContext) => {
          const parts = this.#for(part, [host], (where) => (at = where));
          await takeDown(turn, parts);
          await this.#complete(turn.host);
        };
        await (isOne ? run(work) : work.part(nameOf(host), run)).catch(
          (error: unknown) => failed.push({ error: error as Error, at }),
        );
      }),
    );
    const moves = actions?.length ?? 0;
    const ids = turns.map(({ host }) => host);
    const done = {
      hosts: ids,
      startedAt,
      emptyAt,
      endedAt: clock.now(),
      moves,
    };
    await this.#keep({ waves: [...(this.#record.waves ?? []), done] });
    const [first] = failed;
    if (first === undefined) return;
    this.#at = first.at;
    throw first.error;
  }

  /** @param tell gets where the turn is */
  #for(
    work: TaskContext,
    hosts: readonly PoolObject[],
    tell?: (at: string) => void,
  ): TurnParts {
    const names = hosts.map(nameOf).join(", ");
    const [{ id }] = hosts as [PoolObject];
    return {
      ...this.#parts,
      objects: this.#parts.objects.forTask(work),
      work,
      isUpdate: this.#kind === "update",
      completed: this.#record.completed ?? [],
      shutDown: () => this.#record.shutDown[id] ?? [],
      keepShutDown: (vms) =>
        this.#keep({ shutDown: { ...this.#record.shutDown, [id]: vms } }),
      at: (step) => {
        this.#at = `${names}: ${step}`;
        tell?.(this.#at);
      },
    };
  }

  #complete(host: string): Promise<void> {
    const { completed = [] } = this.#record;
    return this.#keep({ completed: [...completed, host] });
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
    for (const { host, guests } of this.#record.turns)
      try {
        await moveBack(objects.get(host, "host"), guests, { objects, work });
      } catch (error) {
        if (!isGone(error)) throw error;
      }
  }

  async #putBack(objects: PoolObjects): Promise<void> {
    const pool = objects.get(this.#record.pool, "pool");
    await restoreSettings(pool, this.#record.suspended, objects);
    await this.#keep({ suspended: {} });
  }

  /** Persists where it stopped, and restores HA and auto power-on. */
  async #stop(error: Error): Promise<void> {
    const { objects, work, signal } = this.#parts;
    const stopped = `${this.#at}: ${error.message}`;
    await this.#keep({ stopped })
      .then(() => this.#keepLast())
      .catch((cause: unknown) => {
        const { message } = cause as Error;
        work.warn(`where it stopped could not be persisted: ${message}`);
      });
    const hasSuspended = Object.keys(this.#record.suspended).length > 0;
    if (!hasSuspended || signal.aborted) return;
    await this.#putBack(objects).catch((cause: unknown) => {
      const { message } = cause as Error;
      work.warn(`HA or auto power-on is still disabled: ${message}`);
    });
  }

  #toStop(error: Error): XoError {
    const { objects } = this.#parts;
    const { turns } = this.#record;
    let left: string[] | undefined;
    try {
      left = turnsLeft(this.#record, objects).map(({ host }) => host);
    } catch {
      // The pool cannot be read: the error does not list the remaining hosts.
    }
    const done =
      left &&
      turns.map(({ host }) => host).filter((host) => !left.includes(host));
    const subject = { what: `the rolling ${this.#kind}`, where: this.#at };
    const cause = toCause(error);
    const data = { ...subject, reason: error.message, cause, done, left };
    return new XoError("STOPPED_MIDWAY", data, error);
  }

  #keepLast(): Promise<void> {
    const { records, clock } = this.#parts;
    const { pool, since, turns, completed, waves, stopped } = this.#record;
    return records.keepLast(pool, {
      kind: this.#kind,
      since,
      endedAt: clock.now(),
      hosts: turns.length,
      completed: completed?.length ?? 0,
      ...(waves && { waves }),
      ...(stopped === undefined ? {} : { stopped }),
    });
  }

  async #keep(change: Partial<RollingRecord>): Promise<void> {
    this.#record = { ...this.#record, ...change };
    await this.#parts.records.keep(this.#record);
  }
}

function toCause(error: Error): object {
  if (error instanceof XapiError)
    return { code: error.code, params: error.params };
  return error instanceof XoError ? { code: error.code, data: error.data } : {};
}
