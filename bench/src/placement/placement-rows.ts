import type {
  BalanceJob,
  EvacuationJob,
  PacemakerJob,
  QualityJob,
  SurvivalJob,
} from "./placement-job.js";
import type { PoolMix, PlacementScenario } from "./problems.js";

/** What is measured, each time in a process of its own. */
export type PlacementRow =
  | Row<"scenario", PlacementScenario>
  | Row<"pacemaker", PacemakerJob>
  | Row<"curve", PoolMix>
  | Row<"evacuation", EvacuationJob>
  | Row<"balance", BalanceJob>
  | Row<"survival", SurvivalJob>
  | Row<"quality", QualityJob>;

interface Row<Section extends string, Job> {
  readonly section: Section;
  readonly name: string;
  readonly job: Job;
  /** Maximum number of runs. */
  readonly most: number;
}

export type Section = PlacementRow["section"];

/** Hosts, each with 100 VMs. */
const CURVE = [10, 30, 100, 300, 1_000];
/** Share of the memory in use, requested failures. */
const SURVIVALS = [
  [0.8, 1],
  [0.8, 2],
  [0.8, 3],
  [0.93, 3],
  [0.97, 64],
] as const;

/** All rows of the published document; it takes many minutes. */
export function fullRows(): PlacementRow[] {
  return [
    ...scenarioRows({ hosts: 100, sets: 100 }),
    ...CURVE.map((hosts) => curveRow(hosts, hosts * 100)),
    ...otherRows({ vmsOnHost: 1_000, hosts: 100, vms: 10_000 }),
    ...SURVIVALS.map(([fill, most]) =>
      survivalRow(most, { hosts: 64, vms: 5_000, fill, running: true }),
    ),
    row("quality", "quality", { pools: 1_000 }, 1),
  ];
}

const MAX_MOVES = 5_000;

/** The same, small. */
export function smokeRows(): PlacementRow[] {
  return [
    ...scenarioRows({ hosts: 6, sets: 6 }),
    ...[3, 10].map((hosts) => curveRow(hosts, hosts * 20)),
    ...otherRows({ vmsOnHost: 30, hosts: 8, vms: 80 }),
    survivalRow(1, { hosts: 8, vms: 80, fill: 0.8, running: true }),
    row("quality", "quality", { pools: 10 }, 1),
  ];
}

function row<S extends string, Job>(
  section: S,
  name: string,
  job: Job,
  most = Infinity,
): Row<S, Job> {
  return { section, name, job, most };
}

function scenarioRows(size: { hosts: number; sets: number }): PlacementRow[] {
  const rule: PlacementScenario = { ...size, required: true };
  return [
    row("scenario", "scenario, required", rule),
    // It takes a hundred times as long: three runs are enough.
    row("pacemaker", "crm_simulate", { scenario: rule, timeoutMs: 600_000 }, 3),
    row("scenario", "scenario, preferred", { ...size, required: false }),
  ];
}

function curveRow(hosts: number, vms: number): PlacementRow {
  const name = `curve, ${vms.toLocaleString("en-US")} VMs`;
  return row("curve", name, { hosts, vms, fill: 0.7, running: false });
}

function otherRows({
  vmsOnHost,
  hosts,
  vms,
}: {
  vmsOnHost: number;
  hosts: number;
  vms: number;
}): PlacementRow[] {
  const goals = ["performance", "consolidate"] as const;
  return [
    row("evacuation", "evacuation", { vms: vmsOnHost, others: 20 }),
    ...goals.map((goal) =>
      row("balance", `balance, ${goal}`, {
        hosts,
        vms,
        goal,
        maxMigrationsPerRun: MAX_MOVES,
      }),
    ),
  ];
}

function survivalRow(most: number, pool: PoolMix): PlacementRow {
  const failures = most === pool.hosts ? "all" : `${most}`;
  const name = `survival of ${failures}, ${pool.fill * 100} % in use`;
  // Very many sets of hosts may be planned.
  return row("survival", name, { pool, most }, pool.fill > 0.9 ? 3 : Infinity);
}
