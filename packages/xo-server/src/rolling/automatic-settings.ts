import type { PoolObjects } from "../objects/pool-objects.js";
import { movesEnded } from "../hosts/moves-ended.js";
import {
  readAutomaticSettings,
  restoreSettings,
  suspendSettings,
} from "../hosts/suspended-settings.js";
import type { RollingJournal } from "./rolling-journal.js";
import type { RollingParts } from "./rolling-parts.js";

/** HA, automatic power-on and the load balancer during a run: suspended while steps are carried out. */
export class AutomaticSettings {
  readonly #journal: RollingJournal;
  readonly #parts: RollingParts;
  #areSuspended = false;

  constructor(journal: RollingJournal, parts: RollingParts) {
    this.#journal = journal;
    this.#parts = parts;
  }

  /** Suspends them, unless they are. Settings are stored before they are changed. */
  async suspend(): Promise<void> {
    if (this.#areSuspended) return;
    const { pool: id, suspended, turns } = this.#journal.record;
    const pool = this.#parts.objects.get(id, "pool");
    // Settings that were disabled before are not visible on the pool.
    const all = { ...suspended, ...(await readAutomaticSettings(pool)) };
    await this.#journal.keep({ suspended: all, suspension: undefined });
    await suspendSettings(pool, all);
    this.#areSuspended = true;
    // The load balancer reads from the record that it must not begin any more.
    const hosts = turns.map(({ host }) => host);
    await movesEnded(hosts, this.#parts);
  }

  /** Restores the settings of before the run. */
  async restore(objects: PoolObjects): Promise<void> {
    const { pool: id, suspended } = this.#journal.record;
    if (Object.keys(suspended).length > 0) {
      await restoreSettings(objects.get(id, "pool"), suspended, objects);
      await this.#journal.keep({ suspended: {} });
    }
    this.#areSuspended = false;
  }
}
