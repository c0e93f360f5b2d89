import { XoError } from "@xo-server/model";
import { migrateBackTo } from "../hosts/migrate-back.js";
import {
  nameOf,
  assertNoEvacuationBlockers,
} from "../hosts/evacuation-blockers.js";
import { isNoSuchObject } from "../objects/no-such-object.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import { AutomaticSettings } from "./automatic-settings.js";
import { preFlight, type PreFlight } from "./pre-flight.js";
import { PoolWatch } from "./pool-watch.js";
import { refreshTurns } from "./refresh-turns.js";
import { RollingJournal } from "./rolling-journal.js";
import type { RollingParts } from "./rolling-parts.js";
import { turnsLeft, type RollingRecord, type Turn } from "./rolling-record.js";
import { runWave, type Wave } from "./run-wave.js";
import { StepTimes } from "./step-times.js";
import { stopRun, toStop } from "./stop-run.js";
import { isRebooting } from "./turn.js";

/** One run. Each wave is planned from the state of the pool at that time. */
export class RollingRun {
  readonly #parts: RollingParts;
  readonly #journal: RollingJournal;
  readonly #settings: AutomaticSettings;
  readonly #times: StepTimes;
  readonly #watch = new PoolWatch();

  /** @throws XoError INVALID_PARAMETERS: unknown time zone */
  constructor(record: RollingRecord, parts: RollingParts) {
    this.#parts = this.#watch.parts(parts);
    this.#journal = new RollingJournal(record, parts);
    this.#settings = new AutomaticSettings(this.#journal, this.#parts);
    this.#times = new StepTimes(this.#journal, this.#parts);
  }

  get #record(): RollingRecord {
    return this.#journal.record;
  }

  async run(): Promise<void> {
    const { pool } = this.#record;
    const isIdle = () => this.#record.suspension !== undefined;
    void this.#watch.run(pool, this.#parts, isIdle); // never rejects
    try {
      await this.#run();
    } finally {
      this.#watch.end();
    }
  }

  async #run(): Promise<void> {
    const { objects, records, work } = this.#parts;
    const isResumed = records.current(this.#record.pool) !== undefined;
    this.#journal.at = "the check";
    await this.#check().catch(async (error: unknown) => {
      // A killed server may have left HA disabled.
      if (isResumed) await this.#fail(error as Error, { isBegun: false });
      throw error;
    });
    const { kind } = this.#journal;
    const before = turnsLeft(this.#record, objects).length;
    // Done first: a run whose record is stored must be continued after a crash.
    await this.#parts.onBegin?.();
    await this.#journal.keep({ task: work.wholeTaskId });
    try {
      await this.#runWaves(before);
      if (this.#record.migrateBack !== false) {
        if (await this.#untilStart(0)) await this.#settings.suspend();
        await this.#step("migrate VMs back", (own) => this.#migrateBackTo(own));
      }
      await this.#step("restore HA and auto power-on", (own) =>
        this.#settings.restore(own),
      );
    } catch (error) {
      await this.#fail(error as Error, { isBegun: true });
    }
    work.info(`${before} hosts ${kind === "update" ? "updated" : "rebooted"}`);
    await this.#journal.keepLast();
    await this.#journal.forget();
  }

  /**
   * Checks that nothing prevents the run.
   * @throws XoError VMS_CANNOT_LEAVE; INVALID_PARAMETERS: a step is longer than
   * each window
   */
  async #check(): Promise<void> {
    const failures = await this.#failuresToSurvive();
    const turns = await refreshTurns(this.#record, this.#parts);
    const { objects } = this.#parts;
    this.#journal.change({ failures, turns });
    const up = turnsLeft(this.#record, objects).filter(
      (turn) => !isRebooting(objects.get(turn.host, "host"), turn),
    );
    const { stuck, conflict, plan } = await this.#preFlight(up);
    assertNoEvacuationBlockers(stuck, conflict);
    const waves = plan?.waves ?? up.map(({ host }) => ({ hosts: [host] }));
    for (const { hosts, ...wave } of waves)
      this.#times.checkFits(
        this.#times.lengthOf({
          turns: up.filter(({ host }) => hosts.includes(host)),
          ...wave,
        }),
      );
  }

  /**
   * @throws XoError STOPPED_MIDWAY; the error itself if nothing was started and
   * everything is as before the run
   */
  async #fail(
    error: Error,
    { isBegun }: { readonly isBegun: boolean },
  ): Promise<void> {
    const cause = this.#watch.causeOf(error);
    const left = await stopRun(
      cause,
      this.#journal,
      this.#settings,
      this.#parts,
    );
    if (isBegun || left !== undefined)
      throw toStop(cause, this.#journal, this.#parts, left);
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

  /** The number from the HA settings, also if an earlier attempt has disabled HA. */
  async #failuresToSurvive(): Promise<number> {
    const { objects } = this.#parts;
    const { xapi, ref } = objects.get(this.#record.pool, "pool");
    const method = "pool.get_ha_host_failures_to_tolerate";
    const count = Number(await xapi.call(method, [ref]));
    return Math.max(1, this.#record.failures ?? 1, count || 0);
  }

  async #runWaves(before: number): Promise<void> {
    const { objects, work, signal } = this.#parts;
    for (;;) {
      const left = turnsLeft(this.#record, objects);
      work.progress((before - left.length) / (before + 1));
      if (left.length === 0) return;
      if (signal.aborted) throw new XoError("ABORTED", { what: "it" });
      const wave = this.#interrupted(left) ?? (await this.#planWave(left));
      if (wave === undefined) continue;
      await this.#settings.suspend();
      const hosts = wave.turns.map(({ host }) => objects.get(host, "host"));
      const names = hosts.map(nameOf).join(", ");
      await work.part(`${this.#journal.kind} ${names}`, (part) =>
        runWave(wave, hosts, { ...this.#parts, work: part }, this.#journal),
      );
    }
  }

  /**
   * Hosts that an earlier attempt has taken down come first, also outside of the
   * maintenance windows.
   */
  #interrupted(left: readonly Turn[]): Wave | undefined {
    const { objects } = this.#parts;
    const down = left.filter((turn) =>
      isRebooting(objects.get(turn.host, "host"), turn),
    );
    return down.length === 0
      ? undefined
      : { turns: down, actions: [], shutDown: [] };
  }

  /** @returns undefined: the run was suspended, so the pool may have changed */
  async #planWave(left: readonly Turn[]): Promise<Wave | undefined> {
    this.#journal.at = "the plan";
    const wave = await this.#nextWave(left);
    if (await this.#untilStart(this.#times.lengthOf(wave))) {
      const turns = await refreshTurns(this.#record, this.#parts);
      await this.#journal.keep({ turns });
      return undefined;
    }
    return wave;
  }

  /** @returns whether it had to wait, with HA and all other settings as before the run */
  async #untilStart(ms: number): Promise<boolean> {
    const { clock, objects } = this.#parts;
    if (this.#times.startFor(ms) <= clock.now()) return false;
    await this.#settings.restore(objects);
    await this.#times.untilStart(ms);
    return true;
  }

  async #nextWave(left: readonly Turn[]): Promise<Wave> {
    const checked = await this.#preFlight(left, 1);
    const planned = checked.plan?.waves[0];
    const hosts = planned?.hosts ?? [this.#firstOf(left)];
    const isIn = (host: string) => hosts.includes(host);
    assertNoEvacuationBlockers(
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

  /** @param run gets the objects for the part of the task that shows this step */
  async #step(
    name: string,
    run: (objects: PoolObjects) => Promise<void>,
  ): Promise<void> {
    const { objects, work } = this.#parts;
    this.#journal.at = name;
    await work.part(name, (part) => run(objects.forTask(part)));
  }

  async #migrateBackTo(objects: PoolObjects): Promise<void> {
    const { work } = this.#parts;
    for (const { host, guests } of this.#record.turns)
      try {
        await migrateBackTo(objects.get(host, "host"), guests, {
          objects,
          work,
        });
      } catch (error) {
        if (!isNoSuchObject(error)) throw error;
      }
  }
}
