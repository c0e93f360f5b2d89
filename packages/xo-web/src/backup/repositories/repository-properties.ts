import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import { summaryOf } from "../maintenance.js";
import {
  dailyGrowth,
  daysLeft,
  type Repository,
  type RepositoryState,
} from "../repository.js";

/** A figure of a repository as text. */
export interface RepositoryProperty {
  readonly id: keyof Messages["backup"]["repositories"]["properties"];
  readonly value: string;
  readonly tone?: string;
  readonly detail?: string;
}

interface PropertyLocalization {
  readonly texts: Messages["backup"]["repositories"];
  readonly formats: Formats;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Below this the space of a file system is an urgent problem, in days. */
const FEW_DAYS = 30;
/** Higher ratios are only those of empty disks. */
const MAX_RATIO = 1_000;

/**
 * The figures of a repository, in the order of the page; those that are not known
 * yet are left out.
 */
export function repositoryProperties(
  { state, benchmarks = [] }: Repository,
  localization: PropertyLocalization,
): readonly RepositoryProperty[] {
  const { formats, texts, now } = localization;
  const benchmark = benchmarks.at(-1);
  return [
    {
      id: "backups",
      value:
        state.backups === undefined
          ? texts.notKnown
          : formats.count(state.backups),
      ...(state.data === undefined
        ? {}
        : { detail: fill(texts.ofData, { size: formats.size(state.data) }) }),
    },
    usedProperty(state, localization),
    ...(state.deduplication === undefined
      ? []
      : [
          {
            id: "deduplication",
            value: fill(
              state.deduplication > MAX_RATIO ? texts.moreTimes : texts.times,
              { n: formats.number(Math.min(MAX_RATIO, state.deduplication)) },
            ),
            detail: texts.deduplicationLead,
          } as const,
        ]),
    growthProperty(state, localization),
    verifiedProperty(state, localization),
    ...(benchmark === undefined
      ? []
      : [
          {
            id: "rates",
            value: fill(texts.rates, {
              read: formats.bytes(benchmark.readRate),
              write: formats.bytes(benchmark.writeRate),
            }),
            detail: formats.ago(now - benchmark.timestamp),
          } as const,
        ]),
  ];
}

function usedProperty(
  { stored, capacity, available }: RepositoryState,
  { texts, formats }: PropertyLocalization,
): RepositoryProperty {
  return {
    id: "used",
    value: stored === undefined ? texts.notKnown : formats.size(stored),
    ...(capacity === undefined || available === undefined
      ? {}
      : {
          detail: fill(texts.freeOf, {
            free: formats.size(available),
            size: formats.size(capacity),
          }),
        }),
  };
}

function growthProperty(
  state: RepositoryState,
  { texts, formats }: PropertyLocalization,
): RepositoryProperty {
  const rate = dailyGrowth(state.growth);
  const left = daysLeft(state);
  return {
    id: "growth",
    value:
      rate === undefined
        ? texts.notKnown
        : fill(texts.perDay, {
            size: `${rate < 0 ? "−" : "+"}${formats.size(Math.abs(rate))}`,
          }),
    ...(left === undefined || left > 3_650
      ? rate === undefined
        ? { detail: texts.growthLater }
        : {}
      : { detail: formats.plural(texts.fullIn, Math.floor(left)) }),
    ...(left !== undefined && left < FEW_DAYS ? { tone: "warn" } : {}),
  };
}

function verifiedProperty(
  { verification, collection }: RepositoryState,
  { texts, formats, now }: PropertyLocalization,
): RepositoryProperty {
  const { state, at, damaged } = summaryOf(verification);
  const damagedFiles = verification?.findings?.length ?? 0;
  const repaired = verification?.repaired ?? 0;
  const freed =
    collection?.endedAt === undefined
      ? []
      : [
          fill(texts.collected, {
            size: formats.size(collection.freed ?? 0),
            age: formats.ago(now - collection.endedAt),
          }),
        ];
  const detail = [
    ...(repaired > 0 ? [formats.plural(texts.repaired, repaired)] : []),
    ...freed,
  ].join(" · ");
  const more = detail === "" ? {} : { detail };
  const id = "verified";
  switch (state) {
    case "damaged":
      return {
        id,
        tone: "bad",
        value:
          damaged > 0
            ? formats.plural(texts.damaged, damaged)
            : formats.plural(texts.damagedFiles, damagedFiles),
        ...more,
      };
    case "verified":
      return { id, tone: "good", value: formats.ago(now - at!), ...more };
    case "running":
      return { id, value: texts.verifying, ...more };
    case "never":
      return { id, tone: "warn", value: texts.neverVerified, ...more };
  }
}
