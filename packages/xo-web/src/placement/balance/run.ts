import type { HostFigures, Purpose, Score } from "@xo-server/placement";
import { fill } from "../../locale/messages.js";
import { purposeText, sentenceOf } from "../rule-text.js";
import type { Sentence, RuleLocalization } from "../rule-text.js";
import { busiest } from "./host-changes.js";

type BalanceRunStatus =
  | "pending"
  | "success"
  | "failure"
  | "stopped"
  | "interrupted"
  | "dry-run";
type MoveStatus =
  | "planned"
  | "waiting"
  | "migrating"
  | "done"
  | "failed"
  | "skipped"
  | "interrupted";

interface Failure {
  readonly code: string;
  readonly message: string;
}

/** A migration of the balancer, done or, in a dry run, proposed. */
interface RunMove {
  readonly vm: string;
  readonly vmName: string;
  readonly from: string;
  readonly fromName: string;
  readonly to: string;
  readonly toName: string;
  readonly purpose: Purpose;
  readonly score: Score;
  readonly status: MoveStatus;
  readonly error?: Failure;
}

/** A run of the balancer, as `balancer.getHistory` returns it. Times in ms since the epoch. */
export interface Run {
  readonly id: string;
  readonly status: BalanceRunStatus;
  readonly start: number;
  readonly end?: number;
  readonly taskId?: string;
  readonly by: {
    readonly cause: "automatic" | "manual";
    readonly userName: string;
  };
  readonly goal: "performance" | "consolidate";
  readonly moves: readonly RunMove[];
  /** Number of migrations of VMs that the user may not see. */
  readonly hidden: number;
  readonly figuresBefore: readonly HostFigures[];
  /** As planned, whether the run was complete or not. */
  readonly figuresPlanned: readonly HostFigures[];
  /** As measured after the migrations. */
  readonly figuresMeasured?: readonly HostFigures[];
  readonly emptied: readonly string[];
  /** Why the run stopped early. */
  readonly reason?: Failure;
}

export interface RunPage {
  readonly runs: readonly Run[];
  /** Cursor of the next page; absent: this is the last page. */
  readonly cursor?: string;
}

const runTones: Readonly<Record<BalanceRunStatus, string>> = {
  pending: "busy",
  success: "good",
  failure: "bad",
  stopped: "warn",
  interrupted: "warn",
  "dry-run": "",
};
const moveTones: Readonly<Record<MoveStatus, string>> = {
  planned: "",
  waiting: "",
  migrating: "busy",
  done: "good",
  failed: "bad",
  skipped: "warn",
  interrupted: "warn",
};

/** CSS tone of a run's badge. */
export function runTone({ status }: Pick<Run, "status">): string {
  return runTones[status];
}

/** CSS tone of a migration's badge. */
export function moveTone({ status }: Pick<RunMove, "status">): string {
  return moveTones[status];
}

/** Merges the newest page with older ones, without duplicates. */
export function joinRuns(
  newest: readonly Run[],
  older: readonly Run[],
): readonly Run[] {
  const known = new Set(newest.map(({ id }) => id));
  return [...newest, ...older.filter(({ id }) => !known.has(id))];
}

/** Why a VM was migrated, with the figures of that time. */
export function runReason(
  { figuresBefore }: Pick<Run, "figuresBefore">,
  { purpose, from }: Pick<RunMove, "purpose" | "from">,
  { text, formats }: RuleLocalization,
): Sentence {
  const figures = figuresBefore.find(({ host }) => host === from);
  if (purpose !== "overload" || figures?.cpu === undefined)
    return [purposeText(purpose, text)];
  return sentenceOf(text.placement.history.hostFigures, {
    host: { type: "host", id: from },
    cpu: formats.share(figures.cpu),
    memory: formats.share(figures.memory),
  });
}

/** Load of the most loaded host before, as planned and after; undefined: no figures. */
export function runFigures(
  { figuresBefore, figuresPlanned, figuresMeasured = [] }: Run,
  by: "cpu" | "memory",
  { text, formats }: RuleLocalization,
): string | undefined {
  const share = (figures: readonly HostFigures[]): string => {
    const top = busiest(figures, by);
    return top === undefined ? "?" : formats.share(top.share);
  };
  const { figures, measured } = text.placement.history;
  if (figuresBefore.length === 0) return undefined;
  const template = figuresMeasured.length > 0 ? measured : figures;
  return fill(template[by], {
    before: share(figuresBefore),
    after: share(figuresPlanned),
    found: share(figuresMeasured),
  });
}
