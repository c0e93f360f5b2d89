import { XoError } from "@xo-server/model";
import type { Schedule, Store } from "@xo-server/store";
import { Type, type Static } from "typebox";
import { defineOperation, type Operation } from "../operations/operation.js";

const id = Type.String({ minLength: 1, description: "Of a schedule." });

const PublicSchedule = Type.Object({
  id: Type.String(),
  jobId: Type.String(),
  cron: Type.String(),
  enabled: Type.Boolean(),
  name: Type.String(),
  timezone: Type.Optional(Type.String()),
});

const example = {
  id: "00000000-0000-4000-8000-000000000003",
  jobId: "00000000-0000-4000-8000-000000000003",
  cron: "0 2 * * *",
  enabled: true,
  name: "nightly",
  timezone: "Europe/Paris",
};

/** When jobs are done. Read only: nothing makes jobs yet. */
export function scheduleMethods({
  schedules,
}: Pick<Store, "schedules">): Operation[] {
  return [
    defineOperation({
      name: "schedule.getAll",
      summary: "All schedules of jobs.",
      params: Type.Object({}),
      result: Type.Array(PublicSchedule),
      permission: "admin",
      rest: {
        method: "get",
        path: "/schedules",
        operationId: "GetSchedules",
        exposure: "allow",
        example: [example],
      },
      handler: () => Array.from(schedules.list(), toPublic),
    }),
    defineOperation({
      name: "schedule.get",
      summary: "One schedule.",
      params: Type.Object({ id }, { additionalProperties: false }),
      result: PublicSchedule,
      permission: "admin",
      rest: {
        method: "get",
        path: "/schedules/{id}",
        operationId: "GetSchedule",
        exposure: "allow",
        example,
      },
      handler(params) {
        const schedule = schedules.get(params.id);
        if (schedule !== undefined) return toPublic(schedule);
        throw new XoError("NO_SUCH_OBJECT", {
          ...{ type: "schedule", id: params.id },
        });
      },
    }),
  ];
}

function toPublic(schedule: Schedule): Static<typeof PublicSchedule> {
  const { id, jobId, cron, enabled, name, timezone } = schedule;
  return {
    ...{ id, jobId, cron, enabled, name },
    ...(timezone === undefined ? {} : { timezone }),
  };
}
