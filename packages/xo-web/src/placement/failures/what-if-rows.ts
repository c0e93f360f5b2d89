import type { PoolFigures, Survival, WhatIf } from "@xo-server/placement";
import { fill } from "../../locale/messages.js";
import type { RuleLocalization } from "../rule-text.js";

interface WhatIfRow {
  readonly id: string;
  readonly label: string;
  readonly before: string;
  readonly after: string;
  /** Whether the figure improved or got worse. */
  readonly trend: "better" | "worse" | undefined;
}

/** The figures of a pool before and after the simulated changes. */
export function whatIfRows(
  { before, after }: WhatIf,
  localization: RuleLocalization,
): readonly WhatIfRow[] {
  const { text, formats } = localization;
  const { rows, ofAll } = text.placementFailures.whatIf;
  const row = (id: keyof typeof rows, format: (of: PoolFigures) => string) => ({
    id,
    label: rows[id],
    before: format(before),
    after: format(after),
    trend: undefined,
  });
  return [
    {
      ...row("survived", ({ survival }) =>
        survivedText(survival, localization),
      ),
      trend: trendOf(before.survival, after.survival),
    },
    row("hosts", ({ hosts }) => formats.count(hosts)),
    row("vms", ({ vms }) => formats.count(vms)),
    row("memory", ({ memory }) => formats.size(memory.size)),
    row("free", ({ memory }) => formats.size(Math.max(0, memory.free))),
    row("cpu", ({ cpu }) =>
      fill(ofAll, {
        n: formats.number(cpu.busy),
        all: formats.count(cpu.cores),
      }),
    ),
  ];
}

function survivedText(
  { failures, atMost, isExact }: Survival,
  { text, formats }: RuleLocalization,
): string {
  const { exactly, between } = text.placementFailures.whatIf;
  return fill(isExact || atMost <= failures ? exactly : between, {
    n: formats.count(failures),
    most: formats.count(atMost),
  });
}

function trendOf(before: Survival, after: Survival): WhatIfRow["trend"] {
  const rise = after.failures - before.failures;
  return rise > 0 ? "better" : rise < 0 ? "worse" : undefined;
}
