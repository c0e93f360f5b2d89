import { XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";

const seconds = (minimum: number, description: string) =>
  Type.Integer({ minimum, maximum: 86_400, description });
const share = (description: string) =>
  Type.Number({ minimum: 0.05, maximum: 1, description });

/** Members of a policy, for the API and the database. */
export const policyMembers = {
  mode: Type.Enum(["off", "dry-run", "automatic"], {
    description:
      "off: nothing is done; dry-run: planned migrations are recorded, but not executed; automatic: they are executed.",
  }),
  goal: Type.Enum(["performance", "consolidate"], {
    description:
      "performance: relieve overloaded hosts. consolidate: also evacuate hosts that are not needed.",
  }),
  cpuHigh: share(
    "Share of a host's cores in use above which the host is overloaded.",
  ),
  cpuLow: share(
    "Share of a host's cores in use below which an overloaded host counts as relieved; no VMs are migrated to a host that would exceed it.",
  ),
  memoryHigh: share(
    "Share of a host's memory in use above which the host is overloaded.",
  ),
  migrationCost: Type.Number({
    minimum: 0,
    maximum: 1,
    description:
      "Minimum gain of a migration for each GiB of the VM's memory. The gain is the decrease of the sum, over all hosts, of the squared shares of CPU and memory in use.",
  }),
  maxMigrationsPerRun: Type.Integer({
    minimum: 1,
    maximum: 100,
    description: "Maximum number of migrations in one run.",
  }),
  parallel: Type.Integer({
    minimum: 1,
    maximum: 16,
    description: "Maximum number of concurrent migrations.",
  }),
  intervalSeconds: seconds(
    10,
    "Interval between two evaluations of the pool, in s.",
  ),
  coolDownSeconds: seconds(
    0,
    "Time during which a migrated VM is not migrated again, in s.",
  ),
  holdSeconds: seconds(
    0,
    "Duration of an imbalance after which migrations start, in s.",
  ),
  excludedTags: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
    maxItems: 64,
    description: "VMs with one of these tags are not migrated.",
  }),
  enforceRules: Type.Boolean({
    description: "Whether violations of affinity rules are corrected too.",
  }),
};

/** Members that a client may set; absent ones are not changed. */
export const policyChangeMembers = Type.Partial(
  Type.Object(policyMembers),
).properties;

export type Policy = Readonly<
  Static<ReturnType<typeof Type.Object<typeof policyMembers>>>
>;

/** Policy of pools for which none has been set. */
export const defaultPolicy: Policy = {
  mode: "off",
  goal: "performance",
  cpuHigh: 0.85,
  cpuLow: 0.65,
  memoryHigh: 0.9,
  migrationCost: 0.01,
  maxMigrationsPerRun: 5,
  parallel: 2,
  intervalSeconds: 60,
  coolDownSeconds: 600,
  holdSeconds: 120,
  excludedTags: [],
  enforceRules: true,
};

/** @throws XoError INVALID_PARAMETERS: the thresholds contradict each other */
export function checkPolicy({ cpuHigh, cpuLow }: Policy): void {
  if (cpuLow < cpuHigh) return;
  throw new XoError("INVALID_PARAMETERS", {
    reason: "cpuLow must be below cpuHigh",
  });
}
