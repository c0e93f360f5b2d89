import { setTimeout as pause } from "node:timers/promises";
import type { ApiSession } from "../api-session.js";

interface Run {
  readonly id: string;
  readonly status: string;
  readonly reason?: string;
}

/** The load balancer and a scheduled job of a pool, which a rolling update suspends. */
export class Automation {
  readonly #pool: string;
  readonly #job: string;
  /** Of the server that runs now. */
  api: ApiSession;

  /** @param cron of the schedule of the job, by the clock of the server */
  static async start(api: ApiSession, pool: string, cron: string) {
    const policy = { mode: "automatic", intervalSeconds: 10, cpuHigh: 0.99 };
    await api.request("balancer.setPolicy", { pool, ...policy });
    const [vm] = await api.all({ type: "VM", power_state: "Running" });
    const values = [{ id: vm!.id, tag: "seen" }];
    const paramsVector = { type: "set", values };
    const job = { type: "call", name: "tags", method: "tag.add", paramsVector };
    const jobId = (await api.request("job.create", { job })) as string;
    await api.request("schedule.create", { jobId, cron, enabled: true });
    return new Automation(api, pool, jobId);
  }

  private constructor(api: ApiSession, pool: string, job: string) {
    this.api = api;
    this.#pool = pool;
    this.#job = job;
  }

  /** Resolves when the load balancer reports that it waits for the update. */
  async balancerWaits(): Promise<void> {
    while (!(await this.#isBalancerWaiting())) await pause(20);
  }

  /** Resolves when a new run of the job was skipped because of the update. */
  async jobWaits(): Promise<void> {
    const before = (await this.#lastRun())?.id;
    const why = "a rolling update of the pool was in progress";
    await this.#untilRun(
      ({ id, status, reason }) =>
        id !== before && status === "skipped" && reason === why,
    );
  }

  /** Resolves when a new run of the job has succeeded and the load balancer acts again. */
  async isRestored(): Promise<true> {
    const before = (await this.#lastRun())?.id;
    await this.#untilRun(
      ({ id, status }) => id !== before && status === "success",
    );
    while (await this.#isBalancerWaiting()) await pause(20);
    return true;
  }

  async #isBalancerWaiting(): Promise<boolean> {
    const about = { pool: this.#pool };
    const { reason } = (await this.api.request("balancer.getState", about)) as {
      readonly reason?: { readonly code: string };
    };
    return reason?.code === "rolling-reboot";
  }

  async #untilRun(isIt: (run: Run) => boolean): Promise<void> {
    for (;;) {
      const run = await this.#lastRun();
      if (run !== undefined && isIt(run)) return;
      await pause(20);
    }
  }

  async #lastRun(): Promise<Run | undefined> {
    const about = { jobId: this.#job, limit: 1 };
    const { runs } = (await this.api.request("jobRun.list", about)) as {
      readonly runs: readonly Run[];
    };
    return runs[0];
  }
}
