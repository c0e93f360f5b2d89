/** Answer of `pool.planRollingUpdate`. Times in seconds from the beginning. */
export interface RollingPreview {
  readonly canStart: boolean;
  readonly problems: readonly {
    readonly type: "VM" | "host";
    readonly id: string;
    readonly name: string;
    readonly reason: string;
    readonly isFatal: boolean;
  }[];
  readonly hosts: readonly {
    readonly id: string;
    readonly name: string;
    readonly vms: number;
    readonly updates: number;
  }[];
  readonly waves: readonly {
    readonly hosts: readonly string[];
    readonly moves: readonly object[];
    readonly movesAgain: number;
    readonly survives: boolean;
    readonly startsAt: number;
    readonly emptyAt: number;
    readonly endsAt: number;
    /** Milliseconds since the epoch. */
    readonly beginsAt?: number;
  }[];
  readonly moves: number;
  readonly vms: number;
  readonly seconds: number;
  readonly riskiest?: {
    readonly wave: number;
    readonly reason: "no-failure-survived" | "coordinator" | "most-moves";
  };
}

/** One host in the time line: when it is emptied and when it is down, as shares of the whole. */
export interface TimeBar {
  readonly id: string;
  readonly name: string;
  readonly wave: number;
  readonly moves: number;
  readonly from: number;
  readonly empty: number;
  readonly to: number;
}

/** Bars of the hosts of each step: positions as shares of the whole duration, 0 to 1. */
export function timeBars(
  waves: readonly Pick<
    RollingPreview["waves"][number],
    "hosts" | "moves" | "startsAt" | "emptyAt" | "endsAt"
  >[],
  nameOf: (host: string) => string,
): readonly TimeBar[] {
  const end = Math.max(1, ...waves.map(({ endsAt }) => endsAt));
  return waves.flatMap(({ hosts, moves, startsAt, emptyAt, endsAt }, wave) =>
    hosts.map((id) => ({
      id,
      name: nameOf(id),
      wave: wave + 1,
      moves: moves.length,
      from: startsAt / end,
      empty: emptyAt / end,
      to: endsAt / end,
    })),
  );
}

/** Answer of `pool.getRollingState`. Times in ms since the epoch. */
export interface RollingState {
  readonly current: {
    readonly kind: "reboot" | "update";
    readonly since: number;
    readonly hosts: readonly string[];
    readonly completed: readonly string[];
    readonly waves: readonly RunWave[];
    readonly stopped?: string;
    /** Between two steps: until the next maintenance window, or a user continues it. */
    readonly suspension?: { readonly since: number; readonly until?: number };
    readonly isSuspendRequested: boolean;
    /** Id of its task. */
    readonly task?: string;
  } | null;
  readonly last: {
    readonly kind: "reboot" | "update";
    readonly since: number;
    readonly endedAt: number;
    readonly hosts: number;
    readonly completed: number;
    readonly waves?: readonly RunWave[];
    readonly stopped?: string;
  } | null;
}

interface RunWave {
  readonly hosts: readonly string[];
  readonly startedAt: number;
  readonly emptyAt: number;
  readonly endedAt: number;
  readonly moves: number;
}

/** Completed steps of a run, as bars of its time line. */
export function runBars(
  waves: readonly RunWave[],
  nameOf: (host: string) => string,
): readonly TimeBar[] {
  const begin = Math.min(...waves.map(({ startedAt }) => startedAt));
  return timeBars(
    waves.map(({ hosts, startedAt, emptyAt, endedAt, moves }) => ({
      hosts,
      moves: Array.from({ length: moves }, () => ({})),
      startsAt: (startedAt - begin) / 1000,
      emptyAt: (emptyAt - begin) / 1000,
      endsAt: (endedAt - begin) / 1000,
    })),
    nameOf,
  );
}
