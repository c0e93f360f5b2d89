import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { Contention } from "../cluster/contention.js";
import type { Leases } from "../cluster/leases.js";
import type { Logger } from "../log/logger.js";
import { findBridgeHosts, type BridgeParts } from "./bridge-hosts.js";
import { applyRules, hostRulesOf, type HostRules } from "./host-rules.js";

/** Interval of the check, in ms: hosts lose their rules when they boot, and new ports have none. */
const INTERVAL_MS = 5_000;
/** Retry interval after a failure on a host, in ms. */
const AGAIN_MS = 60_000;
/** Subject of the lease: of several servers with one database, one adds the rules again. */
const SUBJECT = "traffic-rules";

/** Key of the setting that a server of this database has added a rule. */
const USED = "traffic-rules/used";

type HostFinder = Parameters<typeof hostRulesOf>[2];

interface TrafficRuleWatchParts extends BridgeParts {
  readonly settings: Pick<Store["settings"], "get" | "add">;
  readonly leases: Pick<Leases, "compete">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
}

/** The rules that were added to a host. */
interface Applied extends HostRules {
  /** Set after a failure: time of the next attempt. */
  readonly retryAt?: number;
}

/**
 * Adds the traffic rules of networks and VIFs again where hosts have lost them: after a boot,
 * for VMs that were started, migrated or copied, and for rules that another client has stored.
 * It reads no objects before the first rule is added.
 */
export class TrafficRuleWatch {
  readonly #parts: TrafficRuleWatchParts;
  /** Applied rules by host and by network or VIF. */
  readonly #applied = new Map<string, Applied>();
  #contention: Contention | undefined;
  #timer: unknown;
  #passing: Promise<void> | undefined;
  #isStopped = false;

  constructor(parts: TrafficRuleWatchParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#contention = this.#parts.leases.compete(SUBJECT, {
      // The next owner of the lease may change the rules: what was added is no longer known.
      onLost: () => {
        this.#applied.clear();
      },
    });
    this.#sleep();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#parts.clock.clearTimeout(this.#timer);
    await this.#passing;
    await this.#contention?.stop();
  }

  /**
   * Starts the comparison of rules, permanently, also after a restart.
   * @throws XoError STORE_UNAVAILABLE
   */
  async begin(): Promise<void> {
    await this.#parts.settings.add(USED, true);
  }

  /** Compares all rules with those that were added. */
  async #pass(): Promise<void> {
    const { queries, settings } = this.#parts;
    if (settings.get(USED) !== true) return;
    const known = new Set<string>();
    const findHosts = this.#hostFinder();
    for (const type of ["network", "VIF"]) {
      const filter = "trafficRules?";
      const { ids } = await queries.page({ type, filter, fields: ["id"] });
      for (const id of ids)
        for (const one of await this.#rulesOf(id, findHosts)) {
          if (!this.#mayAct) return;
          known.add(keyOf(one));
          await this.#apply(one);
        }
    }
    for (const [key, one] of this.#applied)
      if (!known.has(key) && this.#mayAct) await this.#remove(key, one);
  }

  /** Finds the hosts of each network only once, even if many of its VIFs have rules. */
  #hostFinder(): HostFinder {
    const found = new Map<string, ReturnType<HostFinder>>();
    return (network) => {
      const hosts =
        found.get(network.id) ?? findBridgeHosts(network, this.#parts);
      found.set(network.id, hosts);
      return hosts;
    };
  }

  get #mayAct(): boolean {
    return !this.#isStopped && this.#contention?.lease?.isValid === true;
  }

  /** If its pool is not connected, the rules that were already added. */
  async #rulesOf(
    id: string,
    findHosts: HostFinder,
  ): Promise<readonly HostRules[]> {
    const rules = hostRulesOf(id, this.#parts, findHosts);
    return rules.catch((error: unknown) => {
      if (!(error instanceof XoError)) throw error;
      if (error.code !== "NOT_CONNECTED") return [];
      return [...this.#applied.values()].filter(
        ({ ownerId }) => ownerId === id,
      );
    });
  }

  async #apply(one: HostRules): Promise<void> {
    const { clock, logger } = this.#parts;
    const key = keyOf(one);
    const before = this.#applied.get(key);
    const isSame = before?.state === one.state;
    if (
      isSame &&
      (before.retryAt === undefined || clock.now() < before.retryAt)
    )
      return;
    const done = this.#contention?.lease?.beginCommand();
    try {
      await applyRules(one, before);
      this.#applied.set(key, one);
    } catch (error) {
      if (!isSame)
        logger.warn("traffic rules were not added", {
          host: one.host.id,
          error,
        });
      const retryAt = clock.now() + AGAIN_MS;
      this.#applied.set(key, { ...one, rules: before?.rules ?? [], retryAt });
    } finally {
      done?.();
    }
  }

  /** Called when the network or VIF has no more rules, or the host no longer has the bridge. */
  async #remove(key: string, one: HostRules): Promise<void> {
    this.#applied.delete(key);
    const done = this.#contention?.lease?.beginCommand();
    try {
      await applyRules({ ...one, rules: [] }, one);
    } catch {
      // A host without the bridge has no such rules. If it is not connected, they
      // remain until its next boot.
    } finally {
      done?.();
    }
  }

  #sleep(): void {
    const { clock, logger } = this.#parts;
    if (this.#isStopped) return;
    this.#timer = clock.setTimeout(() => {
      this.#passing = this.#pass()
        .catch((error: unknown) => {
          // While the catalog is being stopped, or after the loss of the lease, this is expected.
          if (!this.#isStopped)
            logger.warn("traffic rules were not compared", { error });
        })
        .then(() => {
          this.#sleep();
        });
    }, INTERVAL_MS);
  }
}

function keyOf({ host, ownerId }: HostRules): string {
  return `${host.id}/${ownerId}`;
}
