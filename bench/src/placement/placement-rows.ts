import type {
  BalanceJob,
  EvacuationJob,
  PacemakerJob,
  QualityJob,
  SurvivalJob,
} from "./placement-job.js";
import type { Mixture, Story } from "./problems.js";

/** What is measured, each time in a process of its own. */
export type PlacementRow =
  | Row<"story", Story>
  | Row<"pacemaker", PacemakerJob>
  | Row<"curve", Mixture>
  | Row<"evacuation", EvacuationJob>
  | Row<"balance", BalanceJob>
  | Row<"survival", SurvivalJob>
  | Row<"quality", QualityJob>;

export interface Row<Section extends string, Job> {
  readonly section: Section;
  readonly name: string;
  readonly job: Job;
  /** So many runs are enough. */
  readonly most: number;
}

export type Section = PlacementRow["section"];

/** Hosts, each with 100 VMs. */
const CURVE = [10, 30, 100, 300, 1_000];
const MOST_FAILURES = [1, 2, 3];

export function fullRows(): PlacementRow[] {
  return [
    ...storyRows({ hosts: 100, sets: 100 }),
    ...CURVE.map((hosts) => curveRow(hosts, hosts * 100)),
    ...otherRows({ crowd: 1_000, hosts: 100, vms: 10_000 }),
    ...MOST_FAILURES.map((most) =>
      survivalRow(most, { hosts: 64, vms: 5_000 }),
    ),
    row("quality", "quality", { pools: 1_000 }, 1),
  ];
}

/** The same, small. */
export function smokeRows(): PlacementRow[] {
  return [
    ...storyRows({ hosts: 6, sets: 6 }),
    ...[3, 10].map((hosts) => curveRow(hosts, hosts * 20)),
    ...otherRows({ crowd: 30, hosts: 8, vms: 80 }),
    survivalRow(1, { hosts: 8, vms: 80 }),
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

function storyRows(size: { hosts: number; sets: number }): PlacementRow[] {
  const rule: Story = { ...size, strict: true };
  return [
    row("story", "story, a rule", rule),
    // It takes a hundred times as long: three runs tell enough.
    row("pacemaker", "crm_simulate", { story: rule, timeoutMs: 600_000 }, 3),
    row("story", "story, a wish", { ...size, strict: false }),
  ];
}

function curveRow(hosts: number, vms: number): PlacementRow {
  const name = `curve, ${vms.toLocaleString("en-US")} VMs`;
  return row("curve", name, { hosts, vms, fill: 0.7, running: false });
}

function otherRows({
  crowd,
  hosts,
  vms,
}: {
  crowd: number;
  hosts: number;
  vms: number;
}): PlacementRow[] {
  const goals = ["performance", "density"] as const;
  return [
    row("evacuation", "evacuation", { vms: crowd, others: 20 }),
    ...goals.map((goal) =>
      row("balance", `balance, ${goal}`, { hosts, vms, goal, mostMoves: 100 }),
    ),
  ];
}

function survivalRow(
  most: number,
  size: { hosts: number; vms: number },
): PlacementRow {
  const pool: Mixture = { ...size, fill: 0.8, running: true };
  // The last one may plan very many sets of hosts.
  return row(
    "survival",
    `survival of ${most}`,
    { pool, most },
    most > 2 ? 3 : Infinity,
  );
}
