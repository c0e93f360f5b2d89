import type { RollingPlan } from "@xo-server/placement";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { guestIdsOf } from "../hosts/guests.js";
import {
  nameOf,
  type EvacuationBlocker,
} from "../hosts/evacuation-blockers.js";
import { blockerReason } from "../hosts/blocker-reason.js";
import {
  afterInstallation,
  mostExtensiveRestart,
  type MissingPatch,
} from "../updates/missing-patch.js";
import type { MaintenanceWindows } from "../schedules/maintenance-windows.js";
import { estimateWaves, type Lengths } from "./estimate.js";
import type { PreFlight } from "./pre-flight.js";

/** A problem that prevents the start, or that an administrator should know before it. */
interface PreviewProblem {
  readonly type: "VM" | "host";
  readonly id: string;
  readonly name: string;
  /** Of a problem with a VM: its host. */
  readonly host?: string;
  readonly code: string;
  readonly reason: string;
  readonly isFatal: boolean;
}

interface PreviewWave {
  readonly hosts: readonly string[];
  readonly moves: readonly {
    readonly vm: string;
    readonly from: string;
    readonly to: string;
  }[];
  /** Number of VMs that will be migrated again later. */
  readonly movesAgain: number;
  /** Whether it is proven that a host failure during this wave is tolerated. */
  readonly survives: boolean;
  /** Estimated start in seconds from the beginning. */
  readonly startsAt: number;
  readonly emptyAt: number;
  readonly endsAt: number;
  /**
   * Start of the wave if the run is started now, according to the maintenance
   * windows, in ms since the epoch. Absent: no window is long enough.
   */
  readonly beginsAt?: number;
}

export interface RollingPreview {
  readonly kind: "reboot" | "update";
  readonly canStart: boolean;
  readonly problems: readonly PreviewProblem[];
  /** In the order of their turns. */
  readonly hosts: readonly {
    readonly id: string;
    readonly name: string;
    readonly vms: number;
    readonly updates: number;
    readonly after: string;
  }[];
  readonly waves: readonly PreviewWave[];
  readonly moves: number;
  /** Number of VMs on these hosts. */
  readonly vms: number;
  /** Estimated duration. */
  readonly seconds: number;
  /** Index of the wave with the highest risk, and the reason. Absent without waves. */
  readonly riskiest?: { readonly wave: number; readonly reason: RiskReason };
  /** VMs that are shut down and started again. */
  readonly shutDown: readonly string[];
}

/**
 * no-failure-survived: a failure of another host during this wave is not tolerated;
 * coordinator: the pool is not available during this wave; most-moves: most VMs are
 * migrated.
 */
type RiskReason = "no-failure-survived" | "coordinator" | "most-moves";

interface PreviewParts {
  readonly objects: PoolObjects;
  readonly patches: ReadonlyMap<string, readonly MissingPatch[]>;
  /** Why the pool refuses updates: XAPI's error codes with parameters. */
  readonly refusals: readonly (readonly string[])[];
  readonly lengths: Lengths;
  readonly kind: "reboot" | "update";
  readonly windows: MaintenanceWindows;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Returns the plan of a rolling reboot or update for clients. */
export function toPreview(
  hosts: readonly PoolObject[],
  { plan, stuck, shutDown }: PreFlight,
  parts: PreviewParts,
): RollingPreview {
  const { kind, patches } = parts;
  const waves = wavesOf(plan, parts);
  const order = waves.flatMap((wave) => wave.hosts);
  const rank = ({ id }: PoolObject) =>
    order.includes(id) ? order.indexOf(id) : order.length;
  const problems = [
    ...refusalsOf(hosts, parts),
    ...hosts.flatMap((host) => hostProblems(host, parts.objects)),
    ...stuck.map(toProblem),
    ...windowProblems(waves, hosts),
  ];
  const vms = hosts.reduce((sum, host) => sum + guestIdsOf(host).length, 0);
  const riskiest = riskOf(waves, hosts, parts.objects);
  return {
    kind,
    canStart: !problems.some(({ isFatal }) => isFatal),
    problems,
    hosts: [...hosts]
      .sort((a, b) => rank(a) - rank(b))
      .map((host) => {
        const updates = patches.get(host.id) ?? [];
        const least =
          kind === "reboot" ? "reboot-host" : mostExtensiveRestart(updates);
        return {
          id: host.id,
          name: nameOf(host),
          vms: guestIdsOf(host).length,
          updates: updates.length,
          after: afterInstallation.includes(least) ? least : "nothing",
        };
      }),
    waves,
    moves: plan?.moves ?? vms,
    vms,
    seconds: waves.at(-1)?.endsAt ?? 0,
    ...(riskiest && { riskiest }),
    shutDown: shutDown.map(({ vm }) => vm.id),
  };
}

function wavesOf(
  plan: RollingPlan | undefined,
  { objects, lengths, windows, now }: PreviewParts,
): PreviewWave[] {
  if (plan === undefined) return [];
  const times = estimateWaves(plan.waves, objects, lengths);
  let at: number | undefined = now;
  return plan.waves.map(({ hosts, actions, movesAgain, survives }, index) => {
    const own = times[index]!;
    const ms = (own.endsAt - own.startsAt) * 1000;
    const beginsAt = at === undefined ? undefined : windows.startFor(ms, at);
    at = beginsAt === undefined ? undefined : beginsAt + ms;
    return {
      hosts,
      moves: actions.map(({ vm, from, to }) => ({ vm, from: from!, to })),
      movesAgain,
      survives,
      ...own,
      ...(beginsAt === undefined ? {} : { beginsAt }),
    };
  });
}

/** Reports the first step that does not fit into any maintenance window. */
function windowProblems(
  waves: readonly PreviewWave[],
  all: readonly PoolObject[],
): PreviewProblem[] {
  const wave = waves.find(({ beginsAt }) => beginsAt === undefined);
  const host = all.find(({ id }) => id === wave?.hosts[0]);
  if (wave === undefined || host === undefined) return [];
  const minutes = Math.ceil((wave.endsAt - wave.startsAt) / 60);
  return [
    {
      type: "host",
      id: host.id,
      name: nameOf(host),
      code: "WINDOW_TOO_SHORT",
      reason: `its step takes about ${minutes} minutes: no maintenance window is that long`,
      isFatal: true,
    },
  ];
}

function riskOf(
  waves: readonly PreviewWave[],
  hosts: readonly PoolObject[],
  objects: PoolObjects,
): RollingPreview["riskiest"] {
  if (waves.length === 0) return undefined;
  const byMoves = [...waves.keys()].sort(
    (a, b) => waves[b]!.moves.length - waves[a]!.moves.length,
  );
  const unproven = byMoves.find((index) => !waves[index]!.survives);
  if (unproven !== undefined)
    return { wave: unproven, reason: "no-failure-survived" };
  const pool = String(hosts[0]!.object["$pool"]);
  const { master } = objects.get(pool, "pool").object;
  const first = waves.findIndex((wave) => wave.hosts.includes(String(master)));
  return first >= 0
    ? { wave: first, reason: "coordinator" }
    : { wave: byMoves[0]!, reason: "most-moves" };
}

/** Problems of the pool are reported for its coordinator. */
function refusalsOf(
  [first]: readonly PoolObject[],
  { refusals, objects }: PreviewParts,
): PreviewProblem[] {
  if (first === undefined) return [];
  const pool = objects.get(String(first.object["$pool"]), "pool");
  const { master } = pool.object;
  const host = objects.get(String(master), "host");
  return refusals.map((reason) => ({
    type: "host",
    id: host.id,
    name: nameOf(host),
    code: reason[0] ?? "unknown",
    reason: `the pool refuses updates: ${reason.join(" ")}`,
    isFatal: true,
  }));
}

/** A host that is down or disabled would not come back by itself. */
function hostProblems(
  host: PoolObject,
  objects: PoolObjects,
): PreviewProblem[] {
  const { id, object } = host;
  const problem = (code: string, reason: string, isFatal: boolean) => ({
    type: "host" as const,
    id,
    name: nameOf(host),
    code,
    reason,
    isFatal,
  });
  const problems: PreviewProblem[] = [];
  if (object["power_state"] !== "Running")
    problems.push(problem("HOST_DOWN", "it is down: start it first", true));
  else if (object["enabled"] !== true)
    problems.push(
      problem("HOST_DISABLED", "it is disabled: enable it first", true),
    );
  for (const id of (object["$PBDs"] ?? []) as readonly string[]) {
    const pbd = objects.find(id)?.object;
    if (pbd === undefined || pbd["attached"] === true) continue;
    const sr = objects.find(String(pbd["SR"]))?.object["name_label"];
    const reason = `it is not connected to the SR ${String(sr ?? pbd["SR"])}`;
    problems.push(problem("PBD_UNPLUGGED", reason, false));
  }
  return problems;
}

function toProblem({ vm, host, reason }: EvacuationBlocker): PreviewProblem {
  return {
    type: "VM",
    id: vm.id,
    name: nameOf(vm),
    host: host.id,
    code: reason[0] ?? "unknown",
    reason: blockerReason(vm, reason),
    isFatal: true,
  };
}
