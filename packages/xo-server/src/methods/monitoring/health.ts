import { Type } from "typebox";
import { createHealthReport } from "../../health/health-report.js";
import { HealthReader } from "../../health/health-reader.js";
import { readableTo } from "../../objects/readable.js";
import { defineOperation } from "../definition/define-operation.js";
import { idOf } from "../definition/on-object.js";

const item = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  pool: Type.Optional(Type.String({ description: "Id of its pool." })),
  details: Type.Optional(
    Type.Object(
      {},
      {
        description:
          "Figures and links by name; sizes in bytes, times in seconds since the epoch.",
      },
    ),
  ),
});

const check = Type.Object({
  name: Type.String(),
  severity: Type.Enum(["error", "warning", "info"]),
  type: Type.String({ description: "Type of the objects." }),
  total: Type.Integer({ description: "Number of objects with the problem." }),
  items: Type.Array(item, { description: "At most 100 of them." }),
  filter: Type.Optional(
    Type.String({
      description: "Filter of a list with exactly these objects.",
    }),
  ),
  unknown: Type.Optional(
    Type.Integer({ description: "Objects that could not be checked." }),
  ),
});

const healthGetReport = defineOperation({
  name: "health.getReport",
  summary:
    "Return a health report: orphan disks and snapshots, disks attached to control domains, long VDI chains, duplicate MAC addresses, VMs without guest tools, old snapshots, full or detached SRs, certificates that expire soon, hosts whose clocks (NTP) or versions differ. The report is cached for 5 s.",
  params: Type.Object(
    { pool: Type.Optional(idOf("a pool; default: all")) },
    { additionalProperties: false },
  ),
  result: Type.Unsafe<object>(
    Type.Object({
      time: Type.Integer({ description: "Time, in s since the epoch." }),
      checks: Type.Array(check),
      complete: Type.Optional(
        Type.Literal(false, {
          description: "Whether a pool is still being loaded.",
        }),
      ),
    }),
  ),
  permission: "viewer",
  rest: {
    method: "get",
    path: "/health-report",
    operationId: "GetHealthReport",
    exposure: "allow",
  },
  handler: async ({ pool }, context) => {
    const { services, user } = context;
    const { healthSources, dashboardCache, completeness } = services;
    const report = await dashboardCache.get(
      user?.rights ?? anonymousRights,
      `health ${pool ?? ""}`,
      () =>
        createHealthReport(
          new HealthReader(healthSources, readableTo(context), pool),
        ),
    );
    return completeness.isComplete ? report : { ...report, complete: false };
  },
});

/** The rights of anonymous clients of the demo. */
const anonymousRights = {};

export const healthOperations = [healthGetReport];
