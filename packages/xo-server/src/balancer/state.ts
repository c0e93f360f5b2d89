/** Why a pool is not balanced at the moment. */
export type PauseReason =
  | { readonly code: "not-connected" }
  /** `since`: ms since the epoch. */
  | { readonly code: "rolling-reboot"; readonly since: number }
  /** Hosts are being evacuated, shut down, started or updated. */
  | { readonly code: "host-maintenance"; readonly hosts: readonly string[] }
  /** A host failed recently: its VMs restart on other hosts first. */
  | {
      readonly code: "host-failed";
      readonly hosts: readonly string[];
      readonly until: number;
    }
  /** Hosts have no metrics, or only old ones. */
  | { readonly code: "no-statistics"; readonly hosts: readonly string[] }
  /** Other migrations in the pool are in progress. */
  | { readonly code: "other-migrations"; readonly vms: readonly string[] }
  /** Planning failed. */
  | { readonly code: "no-plan"; readonly message: string };

/**
 * State of the balancer for one pool. Times are ms since the epoch.
 *
 *             ┌──────────── nothing to do ◄───────────────┐
 *             ▼                                           │
 * off ───► idle ──── imbalance ────► pending ─────────────┤ it has lasted
 *  ▲        ▲ ▲                                           ▼
 *  │        │ └── new metrics ───── cooldown ◄─────── migrating
 *  │        │                                             │ failed
 *  │        └────── time has passed ─────────────────── back-off
 *  └── from every state; every state but migrating becomes paused on a reason
 */
export type BalancerState =
  | { readonly state: "off" }
  | {
      readonly state: "idle";
      readonly why: "balanced" | "no-beneficial-migration";
      /** Hosts that stay overloaded, and why. */
      readonly overloaded?: readonly OverloadedHost[];
    }
  /** The last run was stopped; the pool is evaluated again at the interval. */
  | { readonly state: "idle"; readonly why: "stopped"; readonly stop: RunStop }
  | {
      readonly state: "pending";
      readonly until: number;
      readonly moves: number;
    }
  | {
      readonly state: "migrating";
      readonly run: string;
      readonly done: number;
      readonly total: number;
    }
  /**
   * measuring: until metrics are from after the migrations. dry-run: until the
   * same result would be recorded again.
   */
  | {
      readonly state: "cooldown";
      readonly why: "measuring" | "dry-run";
      readonly until: number;
    }
  | { readonly state: "paused"; readonly reason: PauseReason }
  /**
   * Without `until`: until an administrator resets it. `stop`: why the last run
   * migrated nothing; absent in states that release 0.1 has published.
   */
  | {
      readonly state: "back-off";
      readonly failures: number;
      readonly until?: number;
      readonly stop?: RunStop;
    };

/** A host that stays overloaded. */
export interface OverloadedHost {
  readonly host: string;
  readonly name: string;
  /** Shares in use, 0 to 1. */
  readonly cpu: number;
  readonly memory: number;
  /** VMs with the highest demand, at most five. */
  readonly vms: readonly NamedVm[];
}

/** A VM that is not migrated away from an overloaded host. */
export interface NamedVm {
  readonly vm: string;
  readonly name: string;
  /** As StayingVm of the placement package. */
  readonly why: string;
  /** In English. */
  readonly message: string;
  readonly gain?: number;
  readonly cost?: number;
}

/** Why a run ended before all its migrations were done. */
export interface RunStop {
  /** failed: a migration failed. stopped: no migration was started. */
  readonly kind: "failed" | "stopped";
  readonly code: string;
  /** Contains the name of the VM. */
  readonly message: string;
  /** Id of the VM. */
  readonly vm?: string;
}

export type StateName = BalancerState["state"];
