import type { FailoverPlan, Unplaced } from "@xo-server/placement";
import type { Fleet, FleetVm } from "./fleet.js";

/** A row of the restart list: a start order or a VM. */
export type OutcomeLine =
  | {
      readonly kind: "order";
      readonly key: string;
      /** XAPI `VM.order`; undefined: migrations that free memory first. */
      readonly order: number | undefined;
      readonly vms: number;
      /** Seconds until the next start order begins. */
      readonly delay: number;
    }
  | {
      readonly kind: "vm";
      readonly key: string;
      readonly vm: string;
      readonly name: string;
      readonly isBestEffort: boolean;
      readonly from: string | undefined;
      readonly to: string;
    };

/** VMs and memory that a host gains, less what leaves it. */
interface Arriving {
  /** Bytes. */
  readonly memory: number;
  readonly vms: number;
}

/** The outcome of a failure simulation, as the page shows it. */
export interface Outcome {
  readonly lines: readonly OutcomeLine[];
  /** Number of VMs that restart. */
  readonly restarts: number;
  readonly arriving: ReadonlyMap<string, Arriving>;
  /** VMs with the priority `restart` first. */
  readonly unplaced: readonly (Unplaced & { readonly mustRestart: boolean })[];
  readonly lost: readonly string[];
  readonly plan: FailoverPlan;
}

/**
 * What a simulated failure does to the pool. VMs that must restart come first
 * among those that cannot be placed.
 */
export function outcomeOf(plan: FailoverPlan, fleet: Fleet): Outcome {
  const unplaced = plan.unplaced.map((one) => ({
    ...one,
    mustRestart: fleet.vm(one.vm)?.protection === "restart",
  }));
  return {
    plan,
    lost: plan.notRestarted,
    lines: linesOf(plan, fleet),
    restarts: plan.actions.filter(({ kind }) => kind === "start").length,
    arriving: arrivingOf(plan, fleet),
    unplaced: unplaced.sort(
      (a, b) => Number(b.mustRestart) - Number(a.mustRestart),
    ),
  };
}

function linesOf({ actions }: FailoverPlan, fleet: Fleet): OutcomeLine[] {
  const groups = new Map<string, FailoverPlan["actions"][number][]>();
  for (const action of actions) {
    const key = action.kind === "migrate" ? "moves" : `order ${action.order}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [action]);
    else group.push(action);
  }
  return [...groups].flatMap(([key, group]): OutcomeLine[] => {
    const vms = group.map((action) => ({ action, vm: fleet.vm(action.vm) }));
    const [first] = group;
    const isMoves = first?.kind === "migrate";
    return [
      {
        kind: "order",
        key,
        vms: group.length,
        order: isMoves ? undefined : first?.order,
        delay: isMoves ? 0 : longestDelay(vms.map(({ vm }) => vm)),
      },
      ...vms.map(({ action, vm }): OutcomeLine => ({
        kind: "vm",
        key: `${key} ${action.vm}`,
        vm: action.vm,
        name: vm?.name || action.vm.slice(0, 8),
        isBestEffort: vm?.protection === "best-effort",
        from: action.from ?? vm?.host,
        to: action.to,
      })),
    ];
  });
}

function longestDelay(vms: readonly (FleetVm | undefined)[]): number {
  return vms.reduce((most, vm) => Math.max(most, vm?.delay ?? 0), 0);
}

function arrivingOf(
  { actions }: FailoverPlan,
  fleet: Fleet,
): Map<string, Arriving> {
  const sums = new Map<string, { memory: number; vms: number }>();
  const add = (host: string, memory: number, vms: number) => {
    const sum = sums.get(host) ?? { memory: 0, vms: 0 };
    sums.set(host, { memory: sum.memory + memory, vms: sum.vms + vms });
  };
  for (const { kind, vm, from, to } of actions) {
    const memory = fleet.vm(vm)?.memory ?? 0;
    add(to, memory, 1);
    if (kind === "migrate" && from !== undefined) add(from, -memory, -1);
  }
  return sums;
}
