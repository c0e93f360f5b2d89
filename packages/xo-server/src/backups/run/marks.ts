/** `other_config` keys of the snapshots of backups, of VMs and of disks. */
const MARK = {
  /** Id of the job. */
  job: "xo:backup:job",
  /** Id of the run. */
  run: "xo:backup:run",
  /** ms since the epoch. */
  time: "xo:backup:time",
  /** `<repository>/<backup>`, separated by commas: the backups with the same contents. */
  backup: "xo:backup:backup",
  /** Number of incremental backups since the last full one. */
  incrementals: "xo:backup:incrementals",
  /**
   * The snapshot's own UUID. XAPI copies `other_config` to objects that are created
   * from the snapshot, which have another UUID.
   */
  self: "xo:backup:uuid",
} as const;

type Config = Readonly<Record<string, string>>;

export interface Marks {
  readonly job: string;
  readonly run: string;
  readonly time: number;
  /** Id of the backup by repository. */
  readonly backups: ReadonlyMap<string, string>;
  readonly incrementals: number;
}

/** @returns undefined: the snapshot was not created by a backup */
export function readMarks(config: Config, uuid: string): Marks | undefined {
  const job = config[MARK.job];
  if (job === undefined || config[MARK.self] !== uuid) return undefined;
  return {
    job,
    run: config[MARK.run] ?? "",
    time: Number(config[MARK.time]) || 0,
    backups: toBackups(config[MARK.backup] ?? ""),
    incrementals: Number(config[MARK.incrementals]) || 0,
  };
}

/** `other_config` with these marks instead of previous ones. */
export function withMarks(
  config: Config,
  uuid: string,
  { job, run, time, backups, incrementals }: Marks,
): Record<string, string> {
  const names = new Set<string>(Object.values(MARK));
  const others = Object.entries(config).filter(([key]) => !names.has(key));
  return {
    ...Object.fromEntries(others),
    [MARK.job]: job,
    [MARK.run]: run,
    [MARK.time]: String(time),
    [MARK.self]: uuid,
    ...(backups.size === 0
      ? {}
      : {
          [MARK.backup]: [...backups].map((one) => one.join("/")).join(","),
          [MARK.incrementals]: String(incrementals),
        }),
  };
}

function toBackups(text: string): ReadonlyMap<string, string> {
  const pairs = text
    .split(",")
    .map((one) => one.split("/"))
    .flatMap(([repository, backup]) =>
      repository !== undefined && backup !== undefined && repository !== ""
        ? [[repository, backup] as const]
        : [],
    );
  return new Map(pairs);
}

/** Name of a snapshot. It contains the run, which is thus known before the snapshot is marked. */
export function snapshotName(jobName: string, runId: string): string {
  return `Backup ${jobName} (run ${runId})`.slice(-250);
}

/** @returns the run that the name of a snapshot contains */
export function runOfName(name: string): string | undefined {
  return /^.*\(run ([0-9a-zA-Z-]{8,64})\)$/s.exec(name)?.[1];
}
