import type { Agility, Candidate, VmPlacement } from "@xo-server/placement";

/** What `placement.placeVm` tells: where a VM could be, and how its present host looks to it. */
export type WhereAnswer = VmPlacement & {
  readonly current?: Candidate | null;
  readonly agility?: Agility;
};

export interface WhereLine {
  readonly candidate: Candidate;
  readonly isHere: boolean;
  readonly isBest: boolean;
}

/** Where a VM stands among the hosts of its pool. */
export interface Standing {
  /** Hosts that take it, the best first. */
  readonly able: readonly WhereLine[];
  readonly refused: readonly WhereLine[];
  /** none: no host takes it. start: it does not run. better: another host is better. */
  readonly verdict: "none" | "start" | "best" | "better";
}

/** @param host where it runs; undefined: nowhere */
export function standingOf(
  answer: WhereAnswer,
  host: string | undefined,
): Standing {
  const lines = answer.candidates.map((candidate) => ({
    candidate,
    isHere: candidate.host === host,
    isBest: candidate.host === answer.host,
  }));
  const isAble = ({ candidate }: WhereLine) => candidate.refusals.length === 0;
  return {
    able: lines.filter(isAble),
    refused: lines.filter((line) => !isAble(line)),
    verdict: verdictOf(answer, host),
  };
}

function verdictOf(
  { host: best, current, candidates }: WhereAnswer,
  host: string | undefined,
): Standing["verdict"] {
  if (best === undefined) return "none";
  if (host === undefined) return "start";
  const own = current ?? candidates.find((one) => one.host === host);
  const top = candidates.find((one) => one.host === best);
  return best === host || isAsGood(own, top) ? "best" : "better";
}

/** Room that differs by less is no reason to move. */
const NO_MATTER = 0.01;

function isAsGood(
  own: Candidate | undefined,
  top: Candidate | undefined,
): boolean {
  if (own?.score === undefined || top?.score === undefined) return false;
  const wished = ({
    hostAffinity: locations,
    groups,
  }: NonNullable<Candidate["score"]>) => locations + groups;
  return (
    wished(own.score) >= wished(top.score) &&
    Math.abs(top.score.headroom - own.score.headroom) < NO_MATTER
  );
}
