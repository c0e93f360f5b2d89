import type { PoolObjects } from "../objects/pool-objects.js";
import { migrationsEnded } from "../hosts/migrations-ended.js";
import {
  readAutomaticSettings,
  restoreSettings,
  suspendSettings,
} from "../hosts/suspended-settings.js";
import type { RollingJournal } from "./rolling-journal.js";
import type { RollingParts } from "./rolling-parts.js";

/** Suspends HA, automatic power-on and the load balancer while steps of a run are executed. */
export class AutomaticSettings {
  readonly #journal: RollingJournal;
  readonly #parts: RollingParts;
  #areSuspended = false;

  constructor(journal: RollingJournal, parts: RollingParts) {
    this.#journal = journal;
    this.#parts = parts;
  }

  /** Suspends the settings, unless they are suspended. They are stored before they are changed. */
  async suspend(): Promise<void> {
    if (this.#areSuspended) return;
    const { pool: id, suspended, turns } = this.#journal.record;
    const pool = this.#parts.objects.get(id, "pool");
    // The pool does not show settings that were suspended before.
    const all = { ...suspended, ...(await readAutomaticSettings(pool)) };
    await this.#journal.keep({ suspended: all, suspension: undefined });
    await suspendSettings(pool, all);
    this.#areSuspended = true;
    // The load balancer reads from the record that it must not start migrations any more.
    const hosts = turns.map(({ host }) => host);
    await migrationsEnded(hosts, this.#parts);
  }

  /** Restores the settings from before the run. */
  async restore(objects: PoolObjects): Promise<void> {
    const { pool: id, suspended } = this.#journal.record;
    if (Object.keys(suspended).length > 0) {
      await restoreSettings(objects.get(id, "pool"), suspended, objects);
      await this.#journal.keep({ suspended: {} });
    }
    this.#areSuspended = false;
  }
}
