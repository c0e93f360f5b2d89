import { randomUUID } from "node:crypto";
import type { WallClock } from "@xo-server/kit";
import type { ReportSetting } from "../../jobs/job-body.js";
import type { JobKind, KindRun } from "../../jobs/job-kind.js";
import type { RunOutcome } from "../../jobs/run-outcome.js";
import type { Logger } from "../../log/logger.js";
import type { SendMessage } from "../../notifications/send-message.js";
import type { Target } from "../../notifications/target.js";
import { toReport } from "./report-message.js";

export interface RunReportsOptions {
  readonly sendMessage: SendMessage;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
}

/** Pauses between attempts, in ms. After the last attempt the report is dropped. */
const RETRY_MS = [10_000, 60_000, 300_000];

/** Sends reports of runs, as configured in their jobs. */
export class RunReports {
  readonly #options: RunReportsOptions;
  readonly #sending = new Set<Promise<void>>();
  readonly #timers = new Map<unknown, () => void>();
  #isStopped = false;

  constructor(options: RunReportsOptions) {
    this.#options = options;
  }

  /** Wraps a job type so that its runs are reported. */
  ofKind(kind: JobKind): JobKind {
    return {
      check: (body) => kind.check(body),
      plan: (job) => kind.plan(job),
      run: async (run) => {
        const outcome = await kind.run(run);
        this.#send(run, outcome);
        return outcome;
      },
    };
  }

  /** Drops reports that wait for another attempt. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const [timer, wake] of this.#timers) {
      this.#options.clock.clearTimeout(timer);
      wake();
    }
    await Promise.all(this.#sending);
  }

  #send({ job, runId }: KindRun, outcome: RunOutcome): void {
    const { report } = job.body as { readonly report?: ReportSetting };
    if (report === undefined || !isReported(report.when, outcome)) return;
    const time = this.#options.clock.now();
    const message = toReport({ runId, job, time }, outcome);
    for (const target of targetsOf(report)) {
      const sending = this.#try({
        id: randomUUID(),
        target,
        secret: {},
        message,
      });
      this.#sending.add(sending);
      void sending.finally(() => this.#sending.delete(sending));
    }
  }

  /** Never rejects. */
  async #try(outgoing: Parameters<SendMessage>[0]): Promise<void> {
    const { sendMessage, logger } = this.#options;
    for (const pause of [...RETRY_MS, undefined])
      try {
        await sendMessage(outgoing);
        return;
      } catch (error) {
        logger.warn(`a report could not be sent: ${outgoing.message.title}`, {
          target: outgoing.target.kind,
          error,
        });
        if (pause === undefined || this.#isStopped) return;
        await this.#pause(pause);
        if (this.#isStopped) return;
      }
  }

  async #pause(ms: number): Promise<void> {
    let timer: unknown;
    await new Promise<void>((resolve) => {
      timer = this.#options.clock.setTimeout(resolve, ms);
      this.#timers.set(timer, resolve);
    });
    this.#timers.delete(timer);
  }
}

function isReported(
  when: ReportSetting["when"],
  { status }: RunOutcome,
): boolean {
  // The run continues when the server is started again.
  if (when === "never" || status === "interrupted") return false;
  return when === "always" || status !== "success";
}

function targetsOf({ addresses = [], webHooks = [] }: ReportSetting): Target[] {
  return [
    // Each recipient gets a separate message, so that recipients do not see each other.
    ...addresses.map((address): Target => ({
      id: address,
      kind: "e-mail",
      addresses: [address],
    })),
    ...webHooks.map((url): Target => ({
      id: url,
      kind: "web-hook",
      url,
      headerNames: [],
      isSigned: false,
    })),
  ];
}
