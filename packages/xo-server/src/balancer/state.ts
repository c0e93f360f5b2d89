/** Why a pool is left alone. */
export type PauseReason =
  | { readonly code: "not-connected" }
  /** Since: ms since the epoch. */
  | { readonly code: "rolling-reboot"; readonly since: number }
  /** They go down, come up, or are being emptied. */
  | { readonly code: "hosts-change"; readonly hosts: readonly string[] }
  /** A host is down that was not a moment ago: what ran there starts elsewhere. */
  | {
      readonly code: "host-failed";
      readonly hosts: readonly string[];
      readonly until: number;
    }
  /** What they have to do is not known, or was long ago. */
  | { readonly code: "no-statistics"; readonly hosts: readonly string[] }
  /** Somebody else moves VMs. */
  | { readonly code: "others-move"; readonly vms: readonly string[] }
  /** No plan could be made. */
  | { readonly code: "no-plan"; readonly message: string };

/**
 * How it is with a pool; times are ms since the epoch.
 *
 *            ┌──────── nothing to do ◄──────────────┐
 *            ▼                                      │
 * off ──► watching ── out of balance ──► holding ───┤ it has lasted
 *  ▲         ▲ ▲                            │       ▼
 *  │         │ └── figures are new ── cooling ◄── moving
 *  │         │                                      │ failed
 *  │         └───────── time has passed ── backing-off
 *  └── from all of them; and any but moving is paused while there is a reason
 */
export type BalancerState =
  | { readonly state: "off" }
  | { readonly state: "watching"; readonly why: "balanced" | "no-better" }
  | {
      readonly state: "holding";
      readonly until: number;
      readonly moves: number;
    }
  | {
      readonly state: "moving";
      readonly run: string;
      readonly done: number;
      readonly total: number;
    }
  /** measuring: until figures are those of after the moves. dry-run: the same would be written down again. */
  | {
      readonly state: "cooling";
      readonly why: "measuring" | "dry-run";
      readonly until: number;
    }
  | { readonly state: "paused"; readonly reason: PauseReason }
  /** Without `until`: until somebody looks. */
  | {
      readonly state: "backing-off";
      readonly failures: number;
      readonly until?: number;
    };

export type StateName = BalancerState["state"];
