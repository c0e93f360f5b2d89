import type { Agility, Candidate, VmPlacement } from "@xo-server/placement";

/** The answer of `placement.placeVm`: candidate hosts, and the present host as a candidate. */
export type PlaceVmAnswer = VmPlacement & {
  readonly current?: Candidate | null;
  readonly agility?: Agility;
};

interface CandidateRow {
  readonly candidate: Candidate;
  readonly isHere: boolean;
  readonly isBest: boolean;
}

/** The hosts of a pool as candidates for a VM. */
export interface CandidateRanking {
  /** Hosts that can run the VM, best first. */
  readonly able: readonly CandidateRow[];
  readonly refused: readonly CandidateRow[];
  /** none: no host accepts the VM. start: it does not run. better: another host is better. */
  readonly verdict: "none" | "start" | "best" | "better";
}

/** @param host of the VM; undefined: it does not run */
export function rankCandidates(
  answer: PlaceVmAnswer,
  host: string | undefined,
): CandidateRanking {
  const lines = answer.candidates.map((candidate) => ({
    candidate,
    isHere: candidate.host === host,
    isBest: candidate.host === answer.host,
  }));
  const isAble = ({ candidate }: CandidateRow) =>
    candidate.refusals.length === 0;
  return {
    able: lines.filter(isAble),
    refused: lines.filter((line) => !isAble(line)),
    verdict: verdictOf(answer, host),
  };
}

function verdictOf(
  { host: best, current, candidates }: PlaceVmAnswer,
  host: string | undefined,
): CandidateRanking["verdict"] {
  if (best === undefined) return "none";
  if (host === undefined) return "start";
  const own = current ?? candidates.find((one) => one.host === host);
  const top = candidates.find((one) => one.host === best);
  return best === host || isAsGood(own, top) ? "best" : "better";
}

/** Smaller differences of free capacity do not justify a migration. */
const NO_MATTER = 0.01;

function isAsGood(
  own: Candidate | undefined,
  top: Candidate | undefined,
): boolean {
  if (own?.score === undefined || top?.score === undefined) return false;
  const preference = ({
    hostAffinity,
    groups,
  }: NonNullable<Candidate["score"]>) => hostAffinity + groups;
  return (
    preference(own.score) >= preference(top.score) &&
    Math.abs(top.score.headroom - own.score.headroom) < NO_MATTER
  );
}
