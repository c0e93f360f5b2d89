import type {
  BalancerState,
  OverloadedHost,
  PauseReason,
  RunStop,
} from "./state.js";
import { isVisible, type MaySee } from "./visible-vms.js";

/** Why a pool is in its state. docs/balancing.md lists the codes. */
export interface PublicReason {
  readonly code: string;
  /** In English. */
  readonly message: string;
  /** ms since the epoch. */
  readonly until?: number;
  readonly since?: number;
  /** Ids. */
  readonly hosts?: readonly string[];
  /** Number of planned migrations, or of migrations by others. */
  readonly moves?: number;
  readonly failures?: number;
  /** Id of the run in the history; `done` of `total` migrations have ended. */
  readonly run?: string;
  readonly done?: number;
  readonly total?: number;
  /** Id of the VM that failed or changed. */
  readonly vm?: string;
  /** Hosts that stay overloaded, and why their VMs stay. */
  readonly overloaded?: readonly OverloadedHost[];
}

/**
 * Whether an administrator should find out the cause: a back-off until a reset, or
 * after repeated runs that started no migration.
 */
export function isNotice(state: BalancerState): boolean {
  return (
    state.state === "back-off" &&
    (state.until === undefined || state.stop?.kind === "stopped")
  );
}

/** @param maySee undefined: all VMs are named */
export function reasonOf(
  published: BalancerState,
  maySee?: MaySee,
): PublicReason | undefined {
  switch (published.state) {
    case "off":
      return undefined;
    case "idle":
      return toIdle(published, maySee);
    case "pending": {
      const { until, moves } = published;
      const message = "imbalance detected; migrations start if it lasts";
      return { code: "imbalance", message, until, moves };
    }
    case "migrating": {
      const { run, done, total } = published;
      const message = `${done} of ${total} migrations have ended`;
      return { code: "migrating", message, run, done, total };
    }
    case "cooldown":
      return {
        code: published.why,
        message: cooldownMessages[published.why],
        until: published.until,
      };
    case "paused":
      return toPublicPause(published.reason);
    case "back-off":
      return toBackOff(published, maySee);
  }
}

const cooldownMessages = {
  measuring: "waiting for metrics from after the migrations",
  "dry-run": "planned migrations have been recorded",
} as const;

function toIdle(
  idle: Extract<BalancerState, { state: "idle" }>,
  maySee: MaySee,
): PublicReason {
  if (idle.why === "stopped") {
    const { stop } = idle;
    const message = `the last run was stopped: ${stopMessage(stop, maySee)}`;
    return { code: "stopped", message, ...vmOf(stop, maySee) };
  }
  if (idle.why === "balanced")
    return { code: idle.why, message: "no host is overloaded" };
  const overloaded = (idle.overloaded ?? []).map((host) => ({
    ...host,
    vms: host.vms.filter(({ vm }) => isVisible(vm, maySee)),
  }));
  const found = "a host is overloaded, but no migration is beneficial";
  return overloaded.length === 0
    ? { code: idle.why, message: found }
    : { code: idle.why, message: explain(overloaded), overloaded };
}

/** The most overloaded host and its VM with the highest demand. */
function explain([first, ...others]: readonly OverloadedHost[]): string {
  const { name, cpu, memory, vms } = first!;
  const percent = (share: number) => `${Math.round(share * 100)}%`;
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  const [vm] = vms;
  const why = vm === undefined ? "" : `; ${vm.name} stays: ${vm.message}`;
  return `no migration is beneficial, but ${name}${more} is overloaded (CPU ${percent(cpu)}, memory ${percent(memory)})${why}`;
}

/** Message and VM of a stop, without a VM that the caller may not read. */
export function stopMessage({ message, vm }: RunStop, maySee: MaySee): string {
  return vm === undefined || isVisible(vm, maySee)
    ? message
    : "a VM that you may not read could not be migrated";
}

function vmOf({ vm }: RunStop, maySee: MaySee): Pick<PublicReason, "vm"> {
  return vm !== undefined && isVisible(vm, maySee) ? { vm } : {};
}

function toBackOff(
  { failures, until, stop }: Extract<BalancerState, { state: "back-off" }>,
  maySee: MaySee,
): PublicReason {
  const why = stop === undefined ? "" : `: ${stopMessage(stop, maySee)}`;
  const vm = stop === undefined ? {} : vmOf(stop, maySee);
  if (until === undefined)
    return {
      code: "gave-up",
      failures,
      ...vm,
      message: `${failures} consecutive runs failed${why}; check the history, then set the policy again or start a run`,
    };
  return stop?.kind === "stopped"
    ? {
        code: "fruitless",
        failures,
        until,
        ...vm,
        message: `${failures} consecutive runs migrated nothing${why}`,
      }
    : {
        code: "failed",
        failures,
        until,
        ...vm,
        message: `the last run failed${why}`,
      };
}

function toPublicPause(reason: PauseReason): PublicReason {
  switch (reason.code) {
    case "not-connected":
      return { ...reason, message: "the pool is not connected" };
    case "rolling-reboot":
      return { ...reason, message: "a rolling reboot is in progress" };
    case "host-maintenance":
      return {
        ...reason,
        message: "hosts are being evacuated, shut down or started",
      };
    case "host-failed":
      return {
        ...reason,
        message: "a host is down: its VMs restart on other hosts",
      };
    case "no-statistics":
      return { ...reason, message: "no current metrics from some hosts" };
    case "other-migrations":
      return {
        code: reason.code,
        moves: reason.vms.length,
        message: "other VM migrations are in progress",
      };
    case "no-plan":
      return reason;
  }
}
