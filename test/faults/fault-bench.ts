import { silentLogger, type Logger } from "@xo-server/kit";
import { createInventory, type Inventory } from "@xo-server/inventory";
import { createParserPool } from "@xo-server/parser-pool";
import { startPool } from "@xo-server/xapi-sim";
import { createXapi } from "@xo-server/xen-api";
import {
  endFaults,
  randomFault,
  type Fault,
  type FaultTarget,
} from "./faults.js";
import { FaultyLink } from "./faulty-link.js";
import { Marker } from "./marker.js";
import { mirrorDifference } from "./mirror-difference.js";
import { OpenResources } from "./open-resources.js";
import { seededRandom, type Random } from "./seeded-random.js";

/**
 * A change that is not visible after this time, in ms, while the pool is
 * reported as current, is a stale mirror reported as current. Above the time after which the
 * client below gives up a silent event.from, with room for a busy machine.
 */
const MAX_UNKNOWN_MS = 15_000;
/** Limit for the mirror to be equal after the faults have ended, in ms. */
const MAX_RECOVERY_MS = 90_000;
/** Changes a second while faults are applied. */
const CHURN = 50;

/** Result of a run; `problems` is empty if it succeeded. */
export interface FaultResult {
  readonly faults: readonly string[];
  readonly problems: readonly string[];
  /** Time from the end of the faults until the mirror was equal and current. */
  readonly recoveryMs: number;
  /** Longest time that a change was unknown while the pool was reported as current. */
  readonly longestUnknownMs: number;
}

/** A simulated pool with churn, a network that fails, and the mirror of the pool. */
export class FaultBench {
  readonly #target: FaultTarget;
  readonly #inventory: Inventory;
  readonly #resources: OpenResources;
  readonly #stop: () => Promise<void>;

  /** @param logger receives what the mirror logs */
  static async start(logger: Logger = silentLogger): Promise<FaultBench> {
    const pool = await startPool({
      hosts: 2,
      vms: 10,
      members: 1,
      prepare: ["json"],
      churn: CHURN,
    });
    const link = await FaultyLink.open(pool.url);
    const decoder = createParserPool({ maxThreads: 1 });
    const xapi = createXapi({
      hosts: [link.url, ...pool.urls],
      user: pool.user,
      password: pool.password,
      transport: "json-rpc",
      decoder,
      throttleMs: 20,
      connectTimeoutMs: 1_000,
      callTimeoutMs: 5_000,
      eventTimeoutMs: 1_000,
      eventGraceMs: 1_000,
      backoff: { firstMs: 20, maxMs: 500, authMs: 500 },
    });
    const inventory = createInventory({
      logger,
      backoff: { firstMs: 50, maxMs: 1_000 },
    });
    inventory.addPool("p", xapi);
    // The first attempts may fail: it retries until disconnect.
    xapi.connect().catch(() => undefined);
    return new FaultBench({ pool, link }, inventory, async () => {
      await xapi.disconnect();
      await inventory.stop();
      await link.stop();
      await pool.stop();
      await decoder.close();
    });
  }

  private constructor(
    target: FaultTarget,
    inventory: Inventory,
    stop: () => Promise<void>,
  ) {
    this.#target = target;
    const { pool, link } = target;
    const ports = [link.url, ...pool.urls].map((url) =>
      Number(new URL(url).port),
    );
    this.#resources = new OpenResources(
      (socket) => ports.includes(socket.remotePort ?? 0) && !link.has(socket),
    );
    this.#inventory = inventory;
    this.#stop = stop;
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  /** Applies 3 to 7 random faults, then waits until the mirror is equal. */
  runSequence(seed: number): Promise<FaultResult> {
    const random = seededRandom(seed);
    const count = 3 + random(5);
    const faults = Array.from({ length: count }, () => randomFault(random));
    return this.run(faults, random);
  }

  /** Applies these faults one after the other, some of them at the same time. */
  async run(faults: readonly Fault[], random: Random): Promise<FaultResult> {
    const { pool } = this.#target;
    const marker = new Marker(pool, this.#inventory);
    const problems: string[] = [];
    pool.setChurn(CHURN);
    for (const fault of faults) {
      fault.apply(this.#target, random);
      await marker.watch(50 + random(800));
      if (random(2) === 0) endFaults(this.#target);
    }
    endFaults(this.#target);
    pool.setChurn(0);
    const endedAt = performance.now();
    const isEqual = await this.#untilEqual(marker);
    const recoveryMs = performance.now() - endedAt;
    if (!isEqual) problems.push(`not equal: ${this.#difference() ?? "stale"}`);
    else problems.push(...(await this.#verify()));
    const { longestUnknownMs } = marker;
    if (longestUnknownMs > MAX_UNKNOWN_MS)
      problems.push(
        `reported as current without a change of ${Math.round(longestUnknownMs)} ms ago`,
      );
    problems.push(...(await this.#resources.leaks()));
    const names = faults.map(({ name }) => name);
    return { faults: names, problems, recoveryMs, longestUnknownMs };
  }

  async #untilEqual(marker: Marker): Promise<boolean> {
    const until = performance.now() + MAX_RECOVERY_MS;
    while (performance.now() < until) {
      await marker.watch(100);
      const { state, staleSince } = this.#inventory.mirrorStatus("p")!;
      if (state !== "watching" || staleSince !== undefined) continue;
      if (this.#difference() === undefined) return true;
    }
    return false;
  }

  /** The mirror check of the product must have the same result. */
  async #verify(): Promise<string[]> {
    const verified = await this.#inventory
      .verify("p")
      // For example a call without an answer in time on a busy machine: it is a problem of this run, not
      // of the following ones.
      .catch((error: unknown) => String(error));
    if (typeof verified === "string") return [`verify: ${verified}`];
    const { differences, failed } = verified;
    return [
      ...differences.map(
        ({ className, ref, kind }) => `verify: ${className} ${ref} ${kind}`,
      ),
      ...failed.map(({ className }) => `verify: ${className} failed`),
    ];
  }

  #difference(): string | undefined {
    return mirrorDifference(this.#target.pool, this.#inventory);
  }
}
