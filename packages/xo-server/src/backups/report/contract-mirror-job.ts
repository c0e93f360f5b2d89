import { XoError } from "@xo-server/model";
import type { Job, Schedule } from "@xo-server/store";
import type { MirrorBody } from "../../jobs/mirror-body.js";
import { fromContractReport, toContractReport } from "./contract-report.js";
import { isObject, refuseProxy, toIds, toPattern } from "./contract-pattern.js";
import {
  fromContractRetention,
  toContractRetention,
} from "./contract-retention.js";

type Settings = Readonly<Record<string, unknown>>;

/** A mirror job in the form of Xen Orchestra's API. */
interface ContractMirrorJob {
  readonly id: string;
  readonly type: "mirrorBackup";
  readonly name: string;
  /** Has no effect: all backups are complete, and only differences are copied. */
  readonly mode: "full" | "delta";
  readonly userId?: string;
  readonly sourceRemote: string;
  readonly remotes: object;
  readonly filter?: object;
  /** Settings by id of a schedule; those of all schedules have an empty key. */
  readonly settings: Readonly<Record<string, Settings>>;
}

/** What a client of Xen Orchestra sends to create or change a job. */
interface ContractMirrorInput {
  readonly mode: "full" | "delta";
  readonly sourceRemote: string;
  readonly remotes: object;
  readonly proxy?: string | null | undefined;
  readonly filter?: object | undefined;
  readonly settings?: object | undefined;
}

/** @param schedules those of the job */
export function toContractMirrorJob(
  job: Job,
  schedules: readonly Pick<Schedule, "id">[],
): ContractMirrorJob {
  const body = job.body as MirrorBody;
  const { mode = "delta" } = (body.contract ?? {}) as {
    readonly mode?: "full" | "delta";
  };
  const { concurrency, maxRate } = body;
  return {
    id: job.id,
    type: "mirrorBackup",
    name: job.name,
    mode,
    ...(job.userId === undefined ? {} : { userId: job.userId }),
    sourceRemote: body.source,
    remotes: toPattern(body.repositories),
    ...(body.vms === undefined ? {} : { filter: toPattern(body.vms) }),
    settings: {
      "": {
        ...(concurrency === undefined ? {} : { concurrency }),
        ...(maxRate === undefined ? {} : { maxExportRate: maxRate }),
        ...toContractReport(body),
      },
      ...Object.fromEntries(
        schedules.map(({ id }) => {
          const { retention = body.retention } = body.schedules?.[id] ?? {};
          return [id, toContractRetention(retention)];
        }),
      ),
    },
  };
}

/**
 * @param before the body to change; settings that are not sent remain
 * @throws XoError UNSUPPORTED, INVALID_PARAMETERS
 */
export function fromContractMirrorJob(
  input: ContractMirrorInput,
  before?: MirrorBody,
): MirrorBody {
  const { mode, sourceRemote, remotes, proxy, filter, settings = {} } = input;
  refuseProxy(proxy);
  const schedules = new Map(Object.entries(before?.schedules ?? {}));
  for (const [id, one] of Object.entries(settings) as [string, unknown][])
    if (one === null) schedules.delete(id);
    else if (id !== "" && isObject(one))
      schedules.set(id, { retention: fromContractRetention(one) });
  const [first] = schedules.values();
  const { vms: oldVms, ...kept } = before ?? {};
  const vms = filter === undefined ? oldVms : toVms(filter);
  const shared = (settings as { readonly ""?: unknown })[""];
  return {
    ...kept,
    ...(isObject(shared)
      ? { ...fromShared(shared), ...fromContractReport(shared, before) }
      : {}),
    source: sourceRemote,
    repositories: toIds(remotes),
    ...(vms === undefined ? {} : { vms }),
    retention: first?.retention ?? before?.retention ?? { keepLast: 1 },
    schedules: Object.fromEntries(schedules),
    contract: { mode },
  };
}

/** Converts parameters that change only the settings of a run. */
export function toMirrorRunInput(
  settings: object,
  { source, repositories, contract }: MirrorBody,
): ContractMirrorInput {
  const { mode = "delta" } = (contract ?? {}) as {
    readonly mode?: "full" | "delta";
  };
  const remotes = toPattern(repositories);
  return { mode, sourceRemote: source, remotes, settings };
}

function fromShared({
  concurrency,
  maxExportRate,
}: Settings): Pick<MirrorBody, "concurrency" | "maxRate"> {
  return {
    ...(typeof concurrency === "number" && concurrency > 0
      ? { concurrency }
      : {}),
    ...(typeof maxExportRate === "number" && maxExportRate > 0
      ? { maxRate: maxExportRate }
      : {}),
  };
}

/**
 * @returns undefined: all VMs
 * @throws XoError INVALID_PARAMETERS
 */
function toVms(filter: object): string[] | undefined {
  if (Object.keys(filter).length === 0) return undefined;
  const { vm } = filter as { readonly vm?: unknown };
  const { id, uuid = id } = (isObject(vm) ? vm : filter) as {
    readonly id?: unknown;
    readonly uuid?: unknown;
  };
  if (uuid !== undefined) return toIds({ id: uuid });
  throw new XoError("INVALID_PARAMETERS", {
    reason: "filter must name VMs by id: {id} or {id: {__or: [ids]}}",
  });
}
