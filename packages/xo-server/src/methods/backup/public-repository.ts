import { Type, type Static } from "typebox";
import type { RepositoryRecord } from "../../backups/repositories/repository-record.js";
import { REPOSITORY_TYPE as TYPE } from "./find-repository.js";

export const verifyDays = Type.Integer({
  minimum: 0,
  maximum: 3_650,
  description:
    "Number of days within which verification reads all data once; 0: only on request. Default: 30.",
});

/** A backup repository as clients see it, without its secrets. */
export const PublicRepository = Type.Object({
  id: Type.String(),
  type: Type.Literal(TYPE),
  name: Type.String(),
  url: Type.String(),
  enabled: Type.Boolean(),
  options: Type.Optional(Type.String()),
  verifyDays: Type.Optional(verifyDays),
  /** Repositories are always encrypted; clients of Xen Orchestra read the algorithm. */
  encryption: Type.Object({ algorithm: Type.String() }),
  error: Type.Optional(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      data: Type.Optional(Type.Object({}, { additionalProperties: true })),
      since: Type.Number({ description: "Time, in ms since the epoch." }),
    }),
  ),
  benchmarks: Type.Array(
    Type.Object({
      timestamp: Type.Number(),
      readRate: Type.Number({ description: "Bytes per second." }),
      writeRate: Type.Number({ description: "Bytes per second." }),
    }),
  ),
  /** See RepositoryState. */
  state: Type.Object({}, { additionalProperties: true }),
});
export type PublicRepository = Static<typeof PublicRepository>;

/** What clients see of a stored repository; `deduplication` is its data per byte stored. */
export function toPublic(record: RepositoryRecord): PublicRepository {
  const { id, name, url, enabled, options, state } = record;
  const { problem, benchmarks = [] } = state;
  const { backups, stored, data, growth, passphrases, parity } = state;
  const { capacity, available, inspectedAt, createdAt } = state;
  const { verification, collection } = state;
  const { mount, verifyDays } = options;
  const ratio =
    stored !== undefined && stored > 0 && data !== undefined
      ? { deduplication: data / stored }
      : {};
  return {
    id,
    type: TYPE,
    name,
    url,
    enabled,
    ...(typeof mount === "string" && mount !== "" ? { options: mount } : {}),
    ...(typeof verifyDays === "number" ? { verifyDays } : {}),
    encryption: { algorithm: "aes-256-gcm" },
    ...(problem === undefined ? {} : { error: { ...problem } }),
    benchmarks: benchmarks.map(({ time, readRate, writeRate }) => ({
      timestamp: time,
      readRate,
      writeRate,
    })),
    state: {
      backups,
      stored,
      data,
      growth,
      passphrases,
      parity,
      capacity,
      available,
      inspectedAt,
      createdAt,
      verification,
      collection,
      ...ratio,
    },
  };
}
