import { Type, type Static, type TProperties } from "typebox";

const concurrency = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 32,
    description: "Maximum number of concurrent calls. Default: 2.",
  }),
);
const timeout = (what: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      // Limit of Node's timers.
      maximum: 2 ** 31 - 1,
      description: `${what}, in ms. Default: none.`,
    }),
  );
export const limits = {
  concurrency,
  timeout: timeout("Timeout of each call"),
  runTimeout: timeout("Timeout of a run"),
};
/** Selects the VMs of a job. */
const selection = {
  vms: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 10_000,
      description: "Ids of VMs.",
    }),
  ),
  filter: Type.Optional(
    Type.String({
      maxLength: 16_384,
      description:
        "Filter expression that selects the VMs at each run, such as `tags:prod`.",
    }),
  ),
  excludedTags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
      maxItems: 64,
      description:
        "VMs with one of these tags are excluded. Default: xo:no-bak.",
    }),
  ),
};
export const timezoneOf = Type.Optional(
  Type.String({
    maxLength: 64,
    description:
      "Time zone of the days of the retention. Default: that of the schedule.",
  }),
);
const keep = (what: string) =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000, description: what }),
  );

/** Schema of a retention. @param what noun for the descriptions: `backup` */
export const retentionOf = (what: string) =>
  Type.Object(
    {
      keepLast: keep(`Number of the newest ones that are kept.`),
      keepDaily: keep(`Number of days for which the last ${what} is kept.`),
      keepWeekly: keep(
        `Number of weeks for which the last ${what} is kept; weeks begin on Monday.`,
      ),
      keepMonthly: keep(`Number of months for which the last ${what} is kept.`),
      keepYearly: keep(`Number of years for which the last ${what} is kept.`),
    },
    {
      additionalProperties: false,
      description: `Retention: a ${what} is kept if any of these rules keeps it.`,
    },
  );

/** Calls one operation, once per parameter set of the vector. */
export const CallBody = Type.Object({
  key: Type.Optional(
    Type.String({
      maxLength: 128,
      description: "Any string, stored for clients.",
    }),
  ),
  method: Type.String({
    minLength: 1,
    maxLength: 128,
    description: "Name of an operation.",
  }),
  paramsVector: Type.Optional(
    Type.Object(
      { type: Type.String() },
      {
        additionalProperties: true,
        description:
          "set {values}, crossProduct {items}, map {collection, iteratee, paramName}, extractProperties {mapping, value}, fetchObjects {pattern or filter}; default: one call without parameters.",
      },
    ),
  ),
  ...limits,
});
export type CallBody = Static<typeof CallBody>;

/** Takes snapshots of VMs and applies a retention. */
export const SnapshotBody = Type.Object({
  ...selection,
  retention: retentionOf("snapshot"),
  namePattern: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "Template of the name of snapshots, with {job}, {vm}, {date} and {time}. Default: `{job} {date} {time}`.",
    }),
  ),
  withMemory: Type.Optional(
    Type.Boolean({
      description: "Whether snapshots of running VMs include their memory.",
    }),
  ),
  timezone: timezoneOf,
  ...limits,
});
export type SnapshotBody = Static<typeof SnapshotBody>;

export const maxRate = Type.Optional(
  Type.Integer({
    minimum: 1_024,
    description:
      "Limit of the data rate of the backup of each VM, in bytes per second. Default: none.",
  }),
);

/** Where backups are stored. */
export const repositories = Type.Array(
  Type.String({ minLength: 1, maxLength: 128 }),
  {
    minItems: 1,
    maxItems: 16,
    description: "Ids of backup repositories; each gets all backups.",
  },
);

/** Settings that take precedence in runs of a schedule. */
export const scheduleSettings = <T extends TProperties>(settings: T) =>
  Type.Optional(
    Type.Record(
      Type.String({ minLength: 1, maxLength: 128 }),
      Type.Object(settings, { additionalProperties: false }),
      {
        maxProperties: 100,
        description:
          "Settings that differ for the runs of a schedule, by the id of the schedule.",
      },
    ),
  );

const per = (what: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 256,
      description: `Maximum number of VMs of one ${what} that are backed up at the same time, by all jobs.`,
    }),
  );
const timeOfDay = Type.String({ pattern: "^([01]\\d|2[0-3]):[0-5]\\d$" });
const flag = (description: string) =>
  Type.Optional(Type.Boolean({ description }));

/** Recipients of the report of each run. */
export const report = Type.Optional(
  Type.Object(
    {
      when: Type.Enum(["always", "failure", "never"], {
        description:
          "failure: reports also runs in which a part failed, was cancelled or was not started.",
      }),
      addresses: Type.Optional(
        Type.Array(
          Type.String({
            pattern: '^[^\\s@<>,;"]+@[^\\s@<>,;"]+$',
            maxLength: 254,
          }),
          { maxItems: 50, description: "E-mail addresses." },
        ),
      ),
      webHooks: Type.Optional(
        Type.Array(
          Type.String({ pattern: "^https?://[^\\s@]+$", maxLength: 2_048 }),
          {
            maxItems: 10,
            description:
              "URLs to which the log of the run is sent, as JSON in a POST request.",
          },
        ),
      ),
    },
    {
      additionalProperties: false,
      description: "Reports of runs by mail and webhook. Default: none.",
    },
  ),
);
export type ReportSetting = NonNullable<Static<typeof report>>;

/** Settings of a backup job that a schedule may override. */
const overridable = {
  retention: Type.Optional(retentionOf("backup")),
  mode: Type.Optional(
    Type.Enum(["incremental", "full"], {
      description:
        "full: all disks are read; incremental: only changed blocks are read. Default: incremental.",
    }),
  ),
  snapshot: Type.Optional(
    Type.Enum(["normal", "memory", "offline"], {
      description:
        "memory: snapshots of running VMs include the memory; offline: a VM is shut down while its snapshot is taken. Default: normal. The tags xo-memory-backup and xo-offline-backup of a VM take precedence.",
    }),
  ),
};

/** Tests backups: restores VMs into a closed network, starts and deletes them. */
export const RestoreTestBody = Type.Object({
  ...selection,
  repositories: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 64,
      description:
        "Ids of backup repositories whose backups are tested. Default: all.",
    }),
  ),
  sr: Type.String({
    minLength: 1,
    maxLength: 128,
    description: "Id of the SR of the disks; VMs are started in its pool.",
  }),
  network: Type.Optional(
    Type.Enum(["closed", "none"], {
      description:
        "`closed`: a network to which only the VM is attached; `none`: no network interfaces. Default: closed.",
    }),
  ),
  maxVms: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description:
        "Maximum number of VMs that a run tests; those that were not tested for the longest time come first. Default: all.",
    }),
  ),
  bootTimeout: Type.Optional(
    Type.Integer({
      minimum: 1_000,
      maximum: 86_400_000,
      description:
        "Time within which the guest tools, or a script of the guest, must report, in ms. Default: 600,000.",
    }),
  ),
  concurrency: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 32,
      description:
        "Maximum number of VMs that are tested at the same time. Default: 1.",
    }),
  ),
  report,
  timeout: timeout("Timeout of the test of a VM"),
  runTimeout: limits.runTimeout,
});
export type RestoreTestBody = Static<typeof RestoreTestBody>;

/** Backs up VMs to repositories and applies a retention. */
export const BackupBody = Type.Object({
  ...selection,
  pattern: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'Pattern of the properties of VMs, in the format of Xen Orchestra: {tags: [["prod"]]}.',
      },
    ),
  ),
  repositories,
  ...overridable,
  retention: retentionOf("backup"),
  schedules: scheduleSettings(overridable),
  fullInterval: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description:
        "Each n-th backup of a VM is a full backup. Default: only the first.",
    }),
  ),
  preferNbd: flag(
    "Whether disks are read over NBD if the pool supports it. Default: true.",
  ),
  preferCbt: flag(
    "Whether changed block tracking (CBT) is enabled on the disks, so that only changed blocks are read. Default: true.",
  ),
  purgeSnapshotData: flag(
    "Whether the data of the snapshot of the last backup is destroyed if changed block tracking (CBT) does not need it. Default: false.",
  ),
  ignoreLongChains: flag(
    "Whether disks with many images that wait for coalescing are backed up too. Default: false.",
  ),
  retries: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10,
      description: "Number of retries of a failed backup of a VM. Default: 0.",
    }),
  ),
  maxRate,
  window: Type.Optional(
    Type.Object(
      { from: timeOfDay, to: timeOfDay },
      {
        additionalProperties: false,
        description:
          "Time of the day in which backups of VMs are started, such as 22:00 to 06:00; backups outside of it are skipped.",
      },
    ),
  ),
  concurrencyPerHost: per("host"),
  concurrencyPerSr: per("SR"),
  concurrencyPerRepository: per("repository"),
  concurrencyPerPool: per("pool"),
  timezone: timezoneOf,
  report,
  contract: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          "Settings of Xen Orchestra's clients without effect here, stored for these clients.",
      },
    ),
  ),
  ...limits,
});
export type BackupBody = Static<typeof BackupBody>;
