import type { Formats } from "../../locale/formats.js";
import { fill, type Messages } from "../../locale/messages.js";
import { summaryOf } from "../maintenance.js";
import {
  dailyGrowth,
  daysLeft,
  type Repository,
  type RepositoryState,
} from "../repository.js";

/** A figure of a repository in words. */
export interface RepositoryFact {
  readonly id: keyof Messages["backup"]["repositories"]["facts"];
  readonly value: string;
  readonly tone?: string;
  readonly detail?: string;
}

export interface FactWording {
  readonly words: Messages["backup"]["repositories"];
  readonly formats: Formats;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Below this the space of a file system is an urgent problem, in days. */
const FEW_DAYS = 30;
/** Higher ratios are only those of empty disks. */
const MAX_RATIO = 1_000;

export function repositoryFacts(
  { state, benchmarks = [] }: Repository,
  wording: FactWording,
): readonly RepositoryFact[] {
  const { formats, words, now } = wording;
  const benchmark = benchmarks.at(-1);
  return [
    {
      id: "backups",
      value:
        state.backups === undefined
          ? words.notKnown
          : formats.count(state.backups),
      ...(state.data === undefined
        ? {}
        : { detail: fill(words.ofData, { size: formats.size(state.data) }) }),
    },
    usedFact(state, wording),
    ...(state.deduplication === undefined
      ? []
      : [
          {
            id: "deduplication",
            value: fill(
              state.deduplication > MAX_RATIO ? words.moreTimes : words.times,
              { n: formats.number(Math.min(MAX_RATIO, state.deduplication)) },
            ),
            detail: words.deduplicationLead,
          } as const,
        ]),
    growthFact(state, wording),
    verifiedFact(state, wording),
    ...(benchmark === undefined
      ? []
      : [
          {
            id: "rates",
            value: fill(words.rates, {
              read: formats.bytes(benchmark.readRate),
              write: formats.bytes(benchmark.writeRate),
            }),
            detail: formats.ago(now - benchmark.timestamp),
          } as const,
        ]),
  ];
}

function usedFact(
  { stored, capacity, available }: RepositoryState,
  { words, formats }: FactWording,
): RepositoryFact {
  return {
    id: "used",
    value: stored === undefined ? words.notKnown : formats.size(stored),
    ...(capacity === undefined || available === undefined
      ? {}
      : {
          detail: fill(words.freeOf, {
            free: formats.size(available),
            size: formats.size(capacity),
          }),
        }),
  };
}

function growthFact(
  state: RepositoryState,
  { words, formats }: FactWording,
): RepositoryFact {
  const rate = dailyGrowth(state.growth);
  const left = daysLeft(state);
  return {
    id: "growth",
    value:
      rate === undefined
        ? words.notKnown
        : fill(words.perDay, {
            size: `${rate < 0 ? "−" : "+"}${formats.size(Math.abs(rate))}`,
          }),
    ...(left === undefined || left > 3_650
      ? rate === undefined
        ? { detail: words.growthLater }
        : {}
      : { detail: formats.plural(words.fullIn, Math.floor(left)) }),
    ...(left !== undefined && left < FEW_DAYS ? { tone: "warn" } : {}),
  };
}

function verifiedFact(
  { verification, collection }: RepositoryState,
  { words, formats, now }: FactWording,
): RepositoryFact {
  const { state, at, damaged } = summaryOf(verification);
  const repaired = verification?.repaired ?? 0;
  const freed =
    collection?.endedAt === undefined
      ? []
      : [
          fill(words.collected, {
            size: formats.size(collection.freed ?? 0),
            age: formats.ago(now - collection.endedAt),
          }),
        ];
  const detail = [
    ...(repaired > 0 ? [formats.plural(words.repaired, repaired)] : []),
    ...freed,
  ].join(" · ");
  const more = detail === "" ? {} : { detail };
  const id = "verified";
  switch (state) {
    case "damaged":
      return {
        id,
        tone: "bad",
        value: formats.plural(words.damaged, damaged),
        ...more,
      };
    case "verified":
      return { id, tone: "good", value: formats.ago(now - at!), ...more };
    case "running":
      return { id, value: words.verifying, ...more };
    case "never":
      return { id, tone: "warn", value: words.neverVerified, ...more };
  }
}
