import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { AlarmNotice, Store } from "@xo-server/store";
import type { Contention } from "../cluster/contention.js";
import type { Leases } from "../cluster/leases.js";
import type { Logger } from "../log/logger.js";
import type { SendMessage } from "../notifications/send-message.js";
import type { Target, TargetSecret } from "../notifications/target.js";
import { toMessage } from "./message-text.js";
import type { NoticeBody } from "./notice.js";
import { toAlarmRule } from "./alarm-rule.js";
import { warnUnlessUnavailable } from "../status/store-unavailable.js";

export interface NoticeSenderOptions {
  readonly store: Pick<Store, "alarmRules" | "alarmNotices">;
  /** With several servers on one database, one of them sends. Default: this one. */
  readonly leases?: Pick<Leases, "compete">;
  /** Interval of the check for notices that other servers have queued, in ms. Default 60,000. */
  readonly pollMs?: number;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
  readonly sendMessage: SendMessage;
  /** Completes a notice when it is sent. */
  readonly describe: (body: NoticeBody) => NoticeBody;
}

/** Delays between attempts. After the last attempt the notice is marked as failed. */
const RETRY_DELAYS_MS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];
/** Longer than any attempt. */
const ATTEMPT_MS = 120_000;
/** Maximum number of concurrent messages. */
const MAX_CONCURRENT = 8;
const POLL_MS = 60_000;
/** Subject of the lease on the notices of all servers. */
const NOTICES = "alarm-notices";
/** Maximum number of queued and failed notices. */
const MAX_QUEUED = 5_000;

/** Sends notices to targets, with retries across restarts. */
export class NoticeSender {
  readonly #options: NoticeSenderOptions;
  #timer: unknown;
  #sending: Promise<void> | undefined;
  #isWoken = false;
  #isStopped = false;
  #isOurs = false;
  #contention: Contention | undefined;

  constructor(options: NoticeSenderOptions) {
    this.#options = options;
  }

  /** Sends due notices while this server has the lease on them. */
  async start(): Promise<void> {
    const { leases } = this.#options;
    if (leases === undefined) return this.#takeOver();
    this.#contention = leases.compete(NOTICES, {
      onHeld: () => void this.#takeOver(),
    });
  }

  /** Makes notices due immediately that a killed process was sending. */
  async #takeOver(): Promise<void> {
    const { store, logger } = this.#options;
    this.#isOurs = true;
    await store.alarmNotices.releaseInterrupted().catch((error: unknown) => {
      warnUnlessUnavailable(
        logger,
        "alarm notifications could not be read",
        error,
      );
    });
    this.wake();
  }

  /** Call it when a notice may be due. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isStopped || !this.#mayAct) return;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  /**
   * Sends once, without retries.
   * @throws the error of the attempt
   */
  async send(
    target: Target,
    secret: TargetSecret,
    message: { readonly id: string; readonly body: NoticeBody },
  ): Promise<void> {
    const { sendMessage, describe } = this.#options;
    const body = describe(message.body);
    await sendMessage({
      id: message.id,
      target,
      secret,
      message: toMessage(body),
    });
  }

  /** Waits for messages that are being sent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    await this.#sending;
    await this.#contention?.stop();
  }

  get #mayAct(): boolean {
    const isHeld = this.#contention?.lease?.isValid ?? this.#isOurs;
    return isHeld && !this.#isStopped;
  }

  /** Never rejects. */
  async #sendAll(): Promise<void> {
    const { store, clock, logger } = this.#options;
    this.#isWoken = false;
    clock.clearTimeout(this.#timer);
    let next: number | undefined;
    try {
      for (;;) {
        const taken = await store.alarmNotices.claim(
          MAX_CONCURRENT,
          ATTEMPT_MS,
        );
        await Promise.all(taken.map((notice) => this.#try(notice)));
        if (taken.length < MAX_CONCURRENT || !this.#mayAct) break;
      }
      await store.alarmNotices.prune(MAX_QUEUED);
      next = await store.alarmNotices.nextAt();
    } catch (error) {
      warnUnlessUnavailable(
        logger,
        "alarm notifications could not be read",
        error,
      );
    }
    this.#sleep(next);
  }

  #sleep(next: number | undefined): void {
    if (this.#isStopped) return;
    const { clock, pollMs = POLL_MS } = this.#options;
    const ms = (next ?? Infinity) - clock.now();
    this.#timer = clock.setTimeout(
      () => {
        this.wake();
      },
      Math.min(Math.max(ms, 1), pollMs),
    );
  }

  async #try(notice: AlarmNotice): Promise<void> {
    const { alarmRules, alarmNotices } = this.#options.store;
    const { id, ruleId, targetId, attempts } = notice;
    const rule = alarmRules.get(ruleId);
    const target =
      rule && toAlarmRule(rule).targets.find((one) => one.id === targetId);
    // The target was removed.
    if (target === undefined) return alarmNotices.delete(id);
    try {
      await this.send(target, secretOf(alarmRules, ruleId, targetId), {
        id,
        body: notice.body as NoticeBody,
      });
    } catch (error) {
      const pause = RETRY_DELAYS_MS[attempts - 1];
      const text = errorText(error);
      this.#options.logger.warn("an alarm notification could not be sent", {
        rule: rule?.name,
        error: text,
      });
      const next =
        pause === undefined ? null : this.#options.clock.now() + pause;
      return alarmNotices.fail(id, text, next);
    }
    return alarmNotices.delete(id);
  }
}

/** The secrets of a target of a rule, decrypted; empty if it has none. */
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

/**
 * Text of an error for status and log. Responses of mail servers are arbitrary
 * text, so only their code and beginning are used; errors of this server contribute
 * their message.
 */
export function errorText(error: unknown): string {
  if (error instanceof XoError) return error.message.slice(0, 200);
  const { code, message } = error as Error & { code?: unknown };
  const reason = message.slice(0, 200);
  return typeof code === "string" ? `${code}: ${reason}` : reason;
}
