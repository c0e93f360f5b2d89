import { Type, type Static } from "typebox";

const usagePeriods = ["day", "week", "month"] as const;
export type UsagePeriod = (typeof usagePeriods)[number];

/** A report by mail of the resource usage of pools, hosts, VMs and SRs. */
export const UsageReportBody = Type.Object({
  pools: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      minItems: 1,
      maxItems: 1_000,
      description: "Ids of pools. Default: all.",
    }),
  ),
  period: Type.Optional(
    Type.Enum([...usagePeriods], {
      description: "Period of the averages. Default: week.",
    }),
  ),
  top: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: "Length of the lists of top consumers. Default: 10.",
    }),
  ),
  addresses: Type.Array(
    Type.String({
      pattern: '^[^\\s@<>,;"]+@[^\\s@<>,;"]+$',
      maxLength: 254,
    }),
    { minItems: 1, maxItems: 50, description: "E-mail addresses." },
  ),
});
export type UsageReportBody = Static<typeof UsageReportBody>;
