import { indexPool, planRolling } from "@xo-server/placement";
import type { Bench } from "../bench.js";
import { createReport } from "../harness/create-report.js";
import type { Figures } from "../harness/figures.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { publish, reportText } from "../harness/publish.js";
import {
  figureOf,
  toResult,
  type Report,
  type Result,
} from "../harness/result.js";
import { readRunOptions, runUsage } from "../harness/run-options.js";
import { fleetModel } from "./fleet-model.js";
import { oneAtATime, type Step } from "./one-at-a-time.js";

/** Minutes: installation, reboot and verification of a host; one migration; migrations of a host at a time. */
const HOST_MINUTES = 25;
const MOVE_MINUTES = 0.25;
const AT_A_TIME = 3;
const SHARE = 4;
const MAX_PARALLEL = 16;

/** How often VMs move, and how long it takes, to update all hosts of a pool. */
export const rollingBench: Bench = {
  summary:
    "Migrations and duration of a rolling update, compared with one host at a time.",
  usage: runUsage,
  async run(args) {
    const { out, smoke } = readRunOptions(args, 1);
    const results: Result[] = [];
    for (const pool of smoke ? (["C"] as const) : (["A", "B", "C"] as const))
      results.push(...(await measure(pool)));
    const report = createReport(results, []);
    const document = rollingDocument(report);
    process.stdout.write(document);
    if (out !== undefined)
      await publish(out, {
        "rolling.md": document,
        "rolling.json": reportText(report),
      });
  },
};

async function measure(pool: "A" | "B" | "C"): Promise<Result[]> {
  const { first, ...model } = await fleetModel(pool);
  const hosts = model.hosts.map(({ id }) => id);
  const parallel = Math.min(MAX_PARALLEL, Math.ceil(hosts.length / SHARE));
  const begin = performance.now();
  const plan = planRolling(indexPool(model), { hosts, first, parallel });
  const planMs = performance.now() - begin;
  const ours = plan.waves.map(({ hosts, actions }): Step => ({
    hosts,
    moves: actions.map(({ vm, from }) => ({ vm, from: from! })),
  }));
  const unproven = plan.waves.filter(({ survives }) => !survives).length;
  const peer = oneAtATime(model, first);
  const vms = model.vms.length;
  const result = (mode: string, figures: Figures) =>
    toResult({ pool, mode, place: "" }, { runs: [figures] });
  return [
    result("waves", {
      ...figuresOf(ours, vms, []),
      planMs,
      unproven,
      unmovable: plan.stuck.length,
    }),
    result("one at a time", figuresOf(peer.steps, vms, peer.back)),
  ];
}

function figuresOf(
  steps: readonly Step[],
  vms: number,
  back: Step["moves"],
): Figures {
  const moves = steps.reduce((sum, step) => sum + step.moves.length, 0);
  const minutes = steps.reduce(
    (sum, step) => sum + movingMinutes(step.moves) + HOST_MINUTES,
    movingMinutes(back),
  );
  return {
    steps: steps.length,
    movesPerVm: (moves + back.length) / vms,
    hours: minutes / 60,
  };
}

/** Hosts are emptied at the same time, each a few VMs at a time. */
function movingMinutes(moves: Step["moves"]): number {
  const counts = new Map<string, number>();
  for (const { from } of moves) counts.set(from, (counts.get(from) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return Math.ceil(most / AT_A_TIME) * MOVE_MINUTES;
}

/** `docs/benchmarks/rolling.md`, from the results alone. */
function rollingDocument(report: Report): string {
  return markdownDocument([
    "# Rolling updates",
    "Written by `npm run bench -- rolling`; do not edit.",
    `How often VMs move, and how long an update of all hosts takes: plans of the server, and the algorithm of the reference written beside it (one host at a time, each VM to the host with the most free memory, back at the end). The lengths are computed, for both alike: ${HOST_MINUTES} minutes to update and reboot a host, ${MOVE_MINUTES * 60} seconds a migration, ${AT_A_TIME} at a time per host. Pools of the simulator; VMs that cannot be migrated are left out.`,
    measuredOn(report),
    markdownTable(
      [
        { title: "Pool" },
        { title: "Algorithm" },
        ...[
          "steps",
          "moves a VM",
          "hours",
          "against one at a time",
          "steps without proven N-1",
          "planned in, ms",
        ].map((title) => ({ title, align: "right" as const })),
      ],
      report.results.map((result) => cells(result, report.results)),
    ),
    "A step of several hosts is planned only if it is proven that a further host failure is survived meanwhile.",
  ]);
}

function cells(result: Result, all: readonly Result[]): string[] {
  const peer = all.find(
    ({ pool, mode }) => pool === result.pool && mode === "one at a time",
  );
  const number = (name: string, digits: number) => {
    const value = figureOf(result, name);
    return Number.isNaN(value) ? "-" : value.toFixed(digits);
  };
  const ratio = figureOf(result, "hours") / figureOf(peer, "hours");
  return [
    result.pool,
    result.mode,
    number("steps", 0),
    number("movesPerVm", 2),
    number("hours", 1),
    `${ratio.toFixed(2)}x`,
    number("unproven", 0),
    number("planMs", 0),
  ];
}
