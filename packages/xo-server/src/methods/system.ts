import { XoError } from "@xo-server/model";
import { Type, type TArray, type TNumber } from "typebox";
import { defineOperation, type Operation } from "../operations/operation.js";
import {
  performanceColumns,
  type PerformanceColumn,
  type PerformanceRing,
} from "../status/performance-ring.js";
import { INTERVAL_MS } from "../status/performance.js";
import { Status } from "../status/status.js";

export interface SystemMethodsOptions {
  readonly version: string;
  readonly readStatus: () => Status;
  readonly performance: PerformanceRing;
  /** All operations of the server, these included; asked for when called. */
  readonly operations: () => readonly Operation[];
}

/** Of Xen Orchestra's JSON-RPC API, which this is one of. */
const API_VERSION = "0.1";

const MethodInfo = Type.Object({
  description: Type.String(),
  permission: Type.Optional(Type.String()),
  params: Type.Record(Type.String(), Type.Unknown()),
});

const Performance = Type.Object({
  intervalMs: Type.Integer(),
  times: Type.Array(Type.Number({ description: "Ms since the epoch." })),
  columns: Type.Object(
    Object.fromEntries(
      performanceColumns.map((name) => [name, Type.Array(Type.Number())]),
    ) as Record<PerformanceColumn, TArray<TNumber>>,
  ),
});

export function systemMethods(options: SystemMethodsOptions): Operation[] {
  return [
    defineOperation({
      name: "system.getServerVersion",
      summary: "The version of the server.",
      params: Type.Object({}),
      result: Type.String(),
      permission: "none",
      handler: () => options.version,
    }),
    defineOperation({
      name: "system.getVersion",
      summary: "The version of the API.",
      params: Type.Object({}),
      result: Type.String(),
      permission: "none",
      handler: () => API_VERSION,
    }),
    defineOperation({
      name: "system.getServerTimezone",
      summary: "The time zone of the server, such as Europe/Paris.",
      params: Type.Object({}),
      result: Type.String(),
      permission: "user",
      handler: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
    }),
    defineOperation({
      name: "system.listMethods",
      summary: "The names of all methods.",
      params: Type.Object({}),
      result: Type.Array(Type.String()),
      permission: "none",
      handler: () => options.operations().map(({ name }) => name),
    }),
    defineOperation({
      name: "system.methodSignature",
      summary: "One method: its name, summary, permission and parameters.",
      params: Type.Object({ method: Type.String({ minLength: 1 }) }),
      result: Type.Array(Type.Unknown()),
      permission: "none",
      handler: ({ method: name }) => {
        const found = options.operations().find((one) => one.name === name);
        if (found === undefined)
          throw new XoError("NO_SUCH_OBJECT", { type: "method", id: name });
        return [{ name, ...toMethodInfo(found) }];
      },
    }),
    defineOperation({
      name: "system.getMethodsInfo",
      summary: "Every method by its name: summary, permission and parameters.",
      params: Type.Object({}),
      result: Type.Record(Type.String(), MethodInfo),
      permission: "none",
      handler: () =>
        Object.fromEntries(
          options.operations().map((one) => [one.name, toMethodInfo(one)]),
        ),
    }),
    defineOperation({
      name: "system.getStatus",
      summary: "The server and its pools as they are now.",
      params: Type.Object({}),
      result: Status,
      permission: "guest",
      handler: () => options.readStatus(),
    }),
    defineOperation({
      name: "system.getPerformance",
      summary:
        "The last hour of the server, in columns: each number is of the interval that ended at its time.",
      params: Type.Object(
        {
          since: Type.Optional(
            Type.Number({
              description: "Ms since the epoch: only later ones.",
            }),
          ),
        },
        { additionalProperties: false },
      ),
      result: Performance,
      permission: "viewer",
      handler: ({ since = 0 }) => ({
        intervalMs: INTERVAL_MS,
        ...options.performance.read(since),
      }),
    }),
  ];
}

/** In the shape that xo-cli reads: a parameter is required unless it says `optional`. */
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
