import { createHash } from "node:crypto";
import type { WallClock } from "@xo-server/kit";
import type { ReportSetting } from "../../jobs/job-body.js";
import type { JobKind, KindRun } from "../../jobs/job-kind.js";
import type { RunOutcome } from "../../jobs/run-outcome.js";
import type { Logger } from "../../log/logger.js";
import type {
  OutgoingMessage,
  SendMessage,
} from "../../notifications/send-message.js";
import type { Target } from "../../notifications/target.js";
import { toReport } from "./report-message.js";

export interface RunReportsOptions {
  readonly sendMessage: SendMessage;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
}

/** Pauses between attempts, in ms. After the last attempt the report is dropped. */
const RETRY_MS = [10_000, 60_000, 300_000];
/** Maximum time in which a run waits for the first attempts, in ms. */
const FIRST_MS = 15_000;

/** Sends reports of runs, as configured in their jobs. */
export class RunReports {
  readonly #options: RunReportsOptions;
  readonly #sending = new Set<Promise<void>>();
  readonly #timers = new Map<unknown, () => void>();
  #isStopped = false;

  constructor(options: RunReportsOptions) {
    this.#options = options;
  }

  /**
   * Wraps a job type so that its runs are reported. A run ends after the first attempts: if the server is killed during
   * them, the run continues at its next start or at another server, and is reported again, with the same id.
   */
  ofKind(kind: JobKind): JobKind {
    return {
      check: (body) => kind.check(body),
      plan: (job) => kind.plan(job),
      run: async (run) => {
        const outcome = await kind.run(run);
        await this.#send(run, outcome);
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

  /** Resolves after the first attempts. */
  async #send({ job, runId }: KindRun, outcome: RunOutcome): Promise<void> {
    const { report } = job.body as { readonly report?: ReportSetting };
    if (report === undefined || !isReported(report.when, outcome)) return;
    const { clock } = this.#options;
    const message = toReport({ runId, job, time: clock.now() }, outcome);
    let timer: unknown;
    const limit = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, FIRST_MS);
    });
    const first = targetsOf(report).map((target) => {
      const id = idOf(runId, target);
      return this.#begin({ id, target, secret: {}, message });
    });
    await Promise.race([Promise.all(first), limit]);
    clock.clearTimeout(timer);
  }

  /** Resolves after the first attempt; further ones follow. */
  #begin(outgoing: OutgoingMessage): Promise<void> {
    return new Promise((resolve) => {
      const sending = this.#try(outgoing, resolve);
      this.#sending.add(sending);
      void sending.finally(() => this.#sending.delete(sending));
    });
  }

  /** Never rejects. @param onTried called after the first attempt */
  async #try(outgoing: OutgoingMessage, onTried: () => void): Promise<void> {
    const { sendMessage, logger } = this.#options;
    for (const pause of [...RETRY_MS, undefined])
      try {
        await sendMessage(outgoing);
        onTried();
        return;
      } catch (error) {
        logger.warn(`a report could not be sent: ${outgoing.message.title}`, {
          target: outgoing.target.kind,
          error,
        });
        onTried();
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

/** The same for each attempt, also those of different servers: mailboxes detect repetitions by it. */
function idOf(runId: string, { id }: Target): string {
  return createHash("sha256")
    .update(`${runId} ${id}`)
    .digest("hex")
    .slice(0, 32);
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
