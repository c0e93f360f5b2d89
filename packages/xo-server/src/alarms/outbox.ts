import { XoError } from "@xo-server/model";
import type { AlarmNotice, Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";
import type { SendMail } from "./mail-sender.js";
import type { NoticeBody } from "./notice.js";
import { toRule, type Target, type TargetSecret } from "./rule.js";
import type { CallHook } from "./web-hook.js";

export interface OutboxOptions {
  readonly store: Pick<Store, "alarmRules" | "alarmNotices">;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "warn">;
  readonly sendMail: SendMail;
  readonly callHook: CallHook;
}

/** Pauses after a try that failed; after the last it is given up. */
const PAUSES_MS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];
/** Longer than any try takes: then another server may take the message. */
const LEASE_MS = 120_000;
/** Messages that are sent at a time. */
const AT_ONCE = 8;
/** What other servers have left is looked for. */
const LOOK_MS = 60_000;
/** Messages that wait or could not be sent, at most. */
const MOST_KEPT = 5_000;

/** Sends what is to be told; what could not be sent is tried again, over restarts. */
export class Outbox {
  readonly #options: OutboxOptions;
  #timer: unknown;
  #sending: Promise<void> | undefined;
  #isWoken = false;
  #isStopped = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** There may be something to send. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isStopped) return;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  /** At once, once. @throws what went wrong */
  async send(
    target: Target,
    secret: TargetSecret,
    message: { readonly id: string; readonly body: NoticeBody },
  ): Promise<void> {
    const { sendMail, callHook } = this.#options;
    if (target.kind === "e-mail")
      await sendMail({ ...message, addresses: target.addresses });
    else await callHook({ ...message, url: target.url, secret });
  }

  /** Waits for what is being sent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    await this.#sending;
  }

  /** Never rejects. */
  async #sendAll(): Promise<void> {
    const { store, clock, logger } = this.#options;
    this.#isWoken = false;
    clock.clearTimeout(this.#timer);
    let next: number | undefined;
    try {
      for (;;) {
        const taken = await store.alarmNotices.claim(AT_ONCE, LEASE_MS);
        await Promise.all(taken.map((notice) => this.#try(notice)));
        if (taken.length < AT_ONCE || this.#isStopped) break;
      }
      await store.alarmNotices.prune(MOST_KEPT);
      next = await store.alarmNotices.nextAt();
    } catch (error) {
      logger.warn("messages of alarms could not be read", { error });
    }
    this.#sleep(next);
  }

  #sleep(next: number | undefined): void {
    if (this.#isStopped) return;
    const { clock } = this.#options;
    const ms = (next ?? Infinity) - clock.now();
    this.#timer = clock.setTimeout(
      () => {
        this.wake();
      },
      Math.min(Math.max(ms, 1), LOOK_MS),
    );
  }

  async #try(notice: AlarmNotice): Promise<void> {
    const { alarmRules, alarmNotices } = this.#options.store;
    const { id, ruleId, targetId, attempts } = notice;
    const rule = alarmRules.get(ruleId);
    const target =
      rule && toRule(rule).sendTo.find((one) => one.id === targetId);
    // Nobody wants it any more.
    if (target === undefined) return alarmNotices.delete(id);
    try {
      await this.send(target, secretOf(alarmRules, ruleId, targetId), {
        id,
        body: notice.body as NoticeBody,
      });
    } catch (error) {
      const pause = PAUSES_MS[attempts - 1];
      const said = sayWhatFailed(error);
      this.#options.logger.warn("an alarm could not be told", {
        rule: rule?.name,
        error: said,
      });
      const next =
        pause === undefined ? null : this.#options.clock.now() + pause;
      return alarmNotices.fail(id, said, next);
    }
    return alarmNotices.delete(id);
  }
}

export function secretOf(
  alarmRules: Pick<Store["alarmRules"], "secret">,
  ruleId: string,
  targetId: string,
): TargetSecret {
  const secrets = (alarmRules.secret(ruleId) ?? {}) as Readonly<
    Record<string, TargetSecret>
  >;
  return Object.hasOwn(secrets, targetId) ? secrets[targetId]! : {};
}

/** Mail servers answer with whole sentences, which may have anything in them; of ours the code says enough. */
export function sayWhatFailed(error: unknown): string {
  if (error instanceof XoError) return error.message.slice(0, 200);
  const { code, message } = error as Error & { code?: unknown };
  const reason = message.slice(0, 200);
  return typeof code === "string" ? `${code}: ${reason}` : reason;
}
