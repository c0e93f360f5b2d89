import { XoError } from "@xo-server/model";
import type { Job, Schedule } from "@xo-server/store";
import type { BackupBody } from "../../jobs/job-body.js";
import { isObject, refuseProxy, toIds, toPattern } from "./contract-pattern.js";
import { fromContractReport, toContractReport } from "./contract-report.js";
import {
  fromContractRetention,
  toContractRetention,
} from "./contract-retention.js";

type Settings = Readonly<Record<string, unknown>>;

/** A backup job in the form of Xen Orchestra's API. */
interface ContractJob {
  readonly id: string;
  readonly type: "backup";
  readonly name: string;
  readonly mode: "full" | "delta";
  readonly userId?: string;
  readonly compression?: string;
  readonly remotes: object;
  readonly vms: object;
  /** Settings by id of a schedule; those of all schedules have an empty key. */
  readonly settings: Readonly<Record<string, Settings>>;
}

/** What a client of Xen Orchestra sends to create or change a job. */
export interface ContractJobInput {
  readonly name?: string | undefined;
  readonly mode?: "full" | "delta" | undefined;
  readonly compression?: string | undefined;
  readonly proxy?: string | null | undefined;
  readonly remotes?: object | undefined;
  readonly srs?: object | undefined;
  readonly vms?: object | undefined;
  readonly settings?: object | undefined;
}

/** Names of settings of all schedules: ours by those of Xen Orchestra. */
const SHARED = {
  concurrency: "concurrency",
  timeout: "timeout",
  nRetriesVmBackupFailures: "retries",
  fullInterval: "fullInterval",
  preferNbd: "preferNbd",
  cbtDestroySnapshotData: "purgeSnapshotData",
  bypassVdiChainsCheck: "ignoreLongChains",
  timezone: "timezone",
} as const;
/** @param schedules those of the job */
export function toContractJob(
  job: Job,
  schedules: readonly Pick<Schedule, "id">[],
): ContractJob {
  const body = job.body as BackupBody;
  const { compression, ...kept } = (body.contract ?? {}) as {
    readonly compression?: string;
    readonly settings?: Readonly<Record<string, Settings>>;
  };
  const settings: Record<string, Settings> = {
    "": {
      ...kept.settings?.[""],
      ...toSharedSettings(body),
      ...toContractReport(body),
    },
  };
  for (const { id } of schedules)
    settings[id] = { ...kept.settings?.[id], ...toOwnSettings(body, id) };
  return {
    id: job.id,
    type: "backup",
    name: job.name,
    mode: body.mode === "full" ? "full" : "delta",
    ...(job.userId === undefined ? {} : { userId: job.userId }),
    ...(compression === undefined ? {} : { compression }),
    remotes: toPattern(body.repositories),
    vms:
      body.vms !== undefined && body.pattern === undefined
        ? toPattern(body.vms)
        : { type: "VM", ...body.pattern },
    settings,
  };
}

/**
 * @param before the body to change; settings that are not sent remain
 * @throws XoError UNSUPPORTED, INVALID_PARAMETERS
 */
export function fromContractJob(
  input: ContractJobInput,
  before?: BackupBody,
): BackupBody {
  refuseUnsupported(input);
  const { mode, vms, remotes, compression, settings } = input;
  const contract = mergeSettings(before, { compression, settings });
  const { "": shared = {}, ...own } = contract.settings;
  const schedules = Object.fromEntries(
    Object.entries(own).map(([id, one]) => [id, fromOwnSettings(one)]),
  );
  const [first] = Object.values(schedules);
  const isFull = (mode ?? modeOf(before)) === "full";
  return {
    ...withoutShared(before, vms === undefined ? [] : ["vms", "pattern"]),
    ...(vms === undefined ? {} : fromVms(vms)),
    repositories:
      remotes === undefined ? (before?.repositories ?? []) : toIds(remotes),
    mode: isFull ? "full" : "incremental",
    ...fromSharedSettings(shared),
    ...fromContractReport(shared, before),
    retention: first?.retention ?? before?.retention ?? { keepLast: 1 },
    schedules,
    contract,
  };
}

function refuseUnsupported({ srs, proxy, remotes }: ContractJobInput): void {
  if (srs !== undefined && toIds(srs).length > 0)
    throw new XoError("UNSUPPORTED", {
      reason: "replication to an SR (srs) is not supported",
    });
  refuseProxy(proxy);
  if (remotes !== undefined && toIds(remotes).length === 0)
    throw new XoError("INVALID_PARAMETERS", {
      reason:
        "remotes must name a backup repository; snapshots alone are taken by a job of the type snapshot",
    });
}

interface Kept {
  readonly compression?: string;
  readonly settings: Readonly<Record<string, Settings>>;
  readonly [key: string]: unknown;
}

function mergeSettings(
  before: BackupBody | undefined,
  { compression, settings }: Pick<ContractJobInput, "compression" | "settings">,
): Kept {
  const old = (before?.contract ?? { settings: {} }) as Kept;
  const merged = new Map(Object.entries(old.settings));
  for (const [id, one] of Object.entries(settings ?? {}) as [string, unknown][])
    if (one === null) merged.delete(id);
    else if (isObject(one))
      merged.set(id, withoutNulls({ ...merged.get(id), ...one }));
  return {
    ...old,
    ...(compression === undefined ? {} : { compression }),
    settings: Object.fromEntries(merged),
  };
}

function fromVms(vms: object): Pick<BackupBody, "vms" | "pattern"> {
  const { type, ...pattern } = vms as Settings;
  const names = Object.keys(pattern);
  if (names.length === 1 && names[0] === "id") return { vms: toIds(vms) };
  void type;
  return { pattern };
}

/** @param more further members that are left out */
function withoutShared(
  before: BackupBody | undefined,
  more: readonly string[],
): Partial<BackupBody> {
  const shared = Object.values(SHARED);
  const names = new Set<string>([...shared, "maxRate", "snapshot", ...more]);
  return Object.fromEntries(
    Object.entries(before ?? {}).filter(([key]) => !names.has(key)),
  );
}

function fromSharedSettings(shared: Settings): Partial<BackupBody> {
  const body: Record<string, unknown> = {};
  for (const [theirs, ours] of Object.entries(SHARED)) {
    const value = shared[theirs];
    // In Xen Orchestra zero means none, for which our setting is absent.
    const isNone = value === 0 && ours !== "retries";
    if (value !== undefined && !isNone) body[ours] = value;
  }
  const { maxExportRate } = shared;
  if (typeof maxExportRate === "number" && maxExportRate > 0)
    body["maxRate"] = maxExportRate;
  if (shared["checkpointSnapshot"] === true) body["snapshot"] = "memory";
  if (shared["offlineBackup"] === true || shared["offlineSnapshot"] === true)
    body["snapshot"] = "offline";
  return body;
}

function toSharedSettings(body: BackupBody): Settings {
  const settings: Record<string, unknown> = {};
  for (const [theirs, ours] of Object.entries(SHARED))
    if (body[ours] !== undefined) settings[theirs] = body[ours];
  if (body.maxRate !== undefined) settings["maxExportRate"] = body.maxRate;
  if (body.snapshot === "memory") settings["checkpointSnapshot"] = true;
  if (body.snapshot === "offline") settings["offlineSnapshot"] = true;
  return settings;
}

function fromOwnSettings(
  settings: Settings,
): Pick<BackupBody, "retention"> & { mode?: "full" } {
  const retention = fromContractRetention(settings);
  return {
    retention,
    ...(settings["fullBackup"] === true ? { mode: "full" } : {}),
  };
}

function toOwnSettings(body: BackupBody, id: string): Settings {
  const { retention = body.retention, mode } = body.schedules?.[id] ?? {};
  return {
    ...toContractRetention(retention),
    ...(mode === "full" ? { fullBackup: true } : {}),
  };
}

function modeOf(before: BackupBody | undefined): string | undefined {
  return before?.mode;
}

function withoutNulls(settings: Settings): Settings {
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== null),
  );
}
