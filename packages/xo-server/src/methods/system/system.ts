import { XoError } from "@xo-server/model";
import { Type, type TArray, type TNumber } from "typebox";
import { version } from "../../config/version.js";
import type { Operation } from "../../operations/operation.js";
import { defineOperation } from "../definition/define-operation.js";
import {
  performanceColumns,
  type PerformanceColumn,
} from "../../status/performance-ring.js";
import { INTERVAL_MS } from "../../status/performance.js";
import { VisibleStatus } from "../../status/status.js";

/** The version of Xen Orchestra's JSON-RPC API with which this one is compatible. */
const API_VERSION = "0.1";

const MethodInfo = Type.Object({
  description: Type.String(),
  permission: Type.Optional(Type.String()),
  params: Type.Record(Type.String(), Type.Unknown()),
});

const Performance = Type.Object({
  intervalMs: Type.Integer(),
  times: Type.Array(
    Type.Number({ description: "Time, in ms since the epoch." }),
  ),
  columns: Type.Object(
    Object.fromEntries(
      performanceColumns.map((name) => [name, Type.Array(Type.Number())]),
    ) as Record<PerformanceColumn, TArray<TNumber>>,
  ),
});

const systemGetServerVersion = defineOperation({
  name: "system.getServerVersion",
  summary: "Return the version of the server.",
  params: Type.Object({}),
  result: Type.String(),
  permission: "none",
  handler: () => version,
});

const systemGetVersion = defineOperation({
  name: "system.getVersion",
  summary: "Return the version of the API.",
  params: Type.Object({}),
  result: Type.String(),
  permission: "none",
  handler: () => API_VERSION,
});

const systemGetServerTimezone = defineOperation({
  name: "system.getServerTimezone",
  summary: "Return the time zone of the server, such as Europe/Paris.",
  params: Type.Object({}),
  result: Type.String(),
  permission: "user",
  handler: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
});

const systemListMethods = defineOperation({
  name: "system.listMethods",
  summary: "List the names of all methods.",
  params: Type.Object({}),
  result: Type.Array(Type.String()),
  permission: "none",
  handler: (_, { dispatcher }) => dispatcher.operations.map(({ name }) => name),
});

const systemMethodSignature = defineOperation({
  name: "system.methodSignature",
  summary: "Describe a method: its name, summary, permission and parameters.",
  params: Type.Object({
    method: Type.String({ minLength: 1, description: "Name of a method." }),
  }),
  result: Type.Array(Type.Unknown()),
  permission: "none",
  handler: ({ method: name }, { dispatcher }) => {
    const found = dispatcher.find(name);
    if (found === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "method", id: name });
    return [{ name, ...toMethodInfo(found) }];
  },
});

const systemGetMethodsInfo = defineOperation({
  name: "system.getMethodsInfo",
  summary: "Describe all methods by name: summary, permission and parameters.",
  params: Type.Object({}),
  result: Type.Record(Type.String(), MethodInfo),
  permission: "none",
  handler: (_, { dispatcher }) =>
    Object.fromEntries(
      dispatcher.operations.map((one) => [one.name, toMethodInfo(one)]),
    ),
});

const systemGetStatus = defineOperation({
  name: "system.getStatus",
  summary:
    "Return the current status of the server and of the pools that the caller may read; anonymous clients get no pools.",
  params: Type.Object({}),
  result: VisibleStatus,
  permission: "guest",
  handler: (_, context) => context.services.readVisibleStatus(context),
});

const systemGetPerformance = defineOperation({
  name: "system.getPerformance",
  summary:
    "Return performance metrics of the server for the last hour, as columns. Each value covers the interval that ends at its time.",
  params: Type.Object(
    {
      since: Type.Optional(
        Type.Number({
          description:
            "Only samples at or after this time, in ms since the epoch.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Performance,
  permission: "viewer",
  handler: ({ since = 0 }, { services }) => ({
    intervalMs: INTERVAL_MS,
    ...services.performance.read(since),
  }),
});

export const systemOperations = [
  systemGetServerVersion,
  systemGetVersion,
  systemGetServerTimezone,
  systemListMethods,
  systemMethodSignature,
  systemGetMethodsInfo,
  systemGetStatus,
  systemGetPerformance,
];

/** The format that xo-cli reads: a parameter is required unless it is `optional`. */
function toMethodInfo({ summary, permission, params }: Operation) {
  const required: readonly string[] = params.required ?? [];
  return {
    description: summary,
    ...(permission === "none" ? {} : { permission: nameOf(permission) }),
    params: Object.fromEntries(
      Object.entries(params.properties).map(([name, schema]) => [
        name,
        required.includes(name) ? schema : { ...schema, optional: true },
      ]),
    ),
  };
}

function nameOf(permission: Operation["permission"]): string {
  return typeof permission === "string" ? permission : permission.action;
}
