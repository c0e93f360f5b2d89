import type { WallClock } from "@xo-server/kit";
import type { Alarm, Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import { toNoticeBody, toNotices } from "./notice.js";
import type { AlarmRule } from "./alarm-rule.js";

interface RemindersOptions {
  readonly store: Pick<Store, "alarms">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
  readonly onWritten: () => void;
}

const PAGE = 1_000;

/**
 * Sends reminders of open alarms that are not acknowledged. The interval
 * restarts with the server.
 */
export class Reminders {
  readonly #options: RemindersOptions;
  readonly #timers = new Map<string, { timer: unknown; every: number }>();

  constructor(options: RemindersOptions) {
    this.#options = options;
  }

  follow(rules: readonly AlarmRule[]): void {
    const reminded = new Map(
      rules
        .filter((rule) => rule.enabled && rule.remindEverySeconds > 0)
        .map((rule) => [rule.id, rule]),
    );
    for (const [id, { timer }] of this.#timers) {
      this.#options.clock.clearTimeout(timer);
      if (!reminded.has(id)) this.#timers.delete(id);
    }
    for (const rule of reminded.values()) this.#wait(rule);
  }

  stop(): void {
    this.follow([]);
  }

  #wait(rule: AlarmRule): void {
    const every = 1000 * rule.remindEverySeconds;
    const timer = this.#options.clock.setTimeout(() => {
      this.#wait(rule);
      this.#remind(rule).catch((error: unknown) => {
        this.#options.logger.warn(
          "reminders of open alarms could not be sent",
          {
            rule: rule.name,
            error,
          },
        );
      });
    }, every);
    this.#timers.set(rule.id, { timer, every });
  }

  async #remind(rule: AlarmRule): Promise<void> {
    const { store, clock, onWritten } = this.#options;
    const open: Alarm[] = (
      await store.alarms.list({ isOpen: true, limit: PAGE })
    ).filter(
      ({ ruleId, acknowledgedAt }) =>
        ruleId === rule.id && acknowledgedAt === undefined,
    );
    const about = { alarms: open, now: clock.now() };
    await store.alarms.addNotices(
      toNotices(rule, toNoticeBody(rule, "reminder", about)),
    );
    onWritten();
  }
}
