import { XoError } from "@xo-server/model";
import type { Job, Schedule } from "@xo-server/store";
import type { MetadataBody } from "../../jobs/metadata-body.js";
import { fromContractReport, toContractReport } from "./contract-report.js";
import { isObject, refuseProxy, toIds, toPattern } from "./contract-pattern.js";

type Settings = Readonly<Record<string, unknown>>;

/** A metadata backup job in the form of Xen Orchestra's API. */
interface ContractMetadataJob {
  readonly id: string;
  readonly type: "metadataBackup";
  readonly name: string;
  readonly userId?: string;
  readonly pools?: object;
  readonly remotes: object;
  readonly xoMetadata: boolean;
  /** Settings by id of a schedule. */
  readonly settings: Readonly<Record<string, Settings>>;
}

/** What a client of Xen Orchestra sends to create or change a job; null removes. */
export interface ContractMetadataInput {
  readonly pools?: object | null | undefined;
  readonly remotes?: object | undefined;
  readonly proxy?: string | null | undefined;
  readonly settings?: object | undefined;
  readonly xoMetadata?: boolean | undefined;
}

/** @param schedules those of the job */
export function toContractMetadataJob(
  job: Job,
  schedules: readonly Pick<Schedule, "id">[],
): ContractMetadataJob {
  const body = job.body as MetadataBody;
  const { pools = [], server = false, repositories } = body;
  return {
    id: job.id,
    type: "metadataBackup",
    name: job.name,
    ...(job.userId === undefined ? {} : { userId: job.userId }),
    ...(pools.length === 0 ? {} : { pools: toPattern(pools) }),
    remotes: toPattern(repositories),
    xoMetadata: server,
    settings: {
      ...(body.report === undefined
        ? {}
        : { "": { ...toContractReport(body) } }),
      ...Object.fromEntries(
        schedules.map(({ id }) => [id, toSettings(body, id)]),
      ),
    },
  };
}

/**
 * @param before the body to change; what is not sent remains
 * @throws XoError UNSUPPORTED, INVALID_PARAMETERS
 */
export function fromContractMetadataJob(
  { pools, remotes, proxy, settings = {}, xoMetadata }: ContractMetadataInput,
  before?: MetadataBody,
): MetadataBody {
  refuseProxy(proxy);
  const repositories =
    remotes === undefined ? (before?.repositories ?? []) : toIds(remotes);
  if (repositories.length === 0)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "remotes must name a backup repository",
    });
  const schedules = new Map(Object.entries(before?.schedules ?? {}));
  for (const [id, one] of Object.entries(settings) as [string, unknown][])
    if (one === null) schedules.delete(id);
    else if (id !== "" && isObject(one)) schedules.set(id, fromSettings(one));
  const [first] = schedules.values();
  const shared = (settings as { readonly ""?: unknown })[""];
  return {
    ...before,
    ...(isObject(shared) ? fromContractReport(shared, before) : {}),
    repositories,
    pools:
      pools === undefined
        ? (before?.pools ?? [])
        : pools === null
          ? []
          : toIds(pools),
    server: xoMetadata ?? before?.server ?? false,
    retention: first?.retention ?? before?.retention ?? { keepLast: 1 },
    schedules: Object.fromEntries(schedules),
  };
}

function fromSettings({
  retentionPoolMetadata,
  retentionXoMetadata,
}: Settings): NonNullable<MetadataBody["schedules"]>[string] {
  const keep = (count: unknown) => ({
    keepLast: typeof count === "number" && count > 0 ? count : 1,
  });
  return {
    retention: keep(retentionPoolMetadata),
    serverRetention: keep(retentionXoMetadata),
  };
}

function toSettings(body: MetadataBody, id: string): Settings {
  const { retention, serverRetention = retention } = {
    ...body,
    ...body.schedules?.[id],
  };
  return {
    retentionPoolMetadata: retention.keepLast ?? 0,
    retentionXoMetadata: serverRetention.keepLast ?? 0,
  };
}
