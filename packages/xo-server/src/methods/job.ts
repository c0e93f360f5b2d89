import { XoError } from "@xo-server/model";
import type { Job, Store } from "@xo-server/store";
import { Type, type Static } from "typebox";
import { defineOperation, type Operation } from "../operations/operation.js";

const PublicJob = Type.Object({
  id: Type.String(),
  name: Type.String(),
  type: Type.String(),
  userId: Type.Optional(Type.String()),
  body: Type.Unknown(),
});

/** What is to be done at given times. Read only: nothing makes jobs yet. */
export function jobMethods({ jobs }: Pick<Store, "jobs">): Operation[] {
  return [
    defineOperation({
      name: "job.getAll",
      summary: "All jobs.",
      params: Type.Object({}),
      result: Type.Array(PublicJob),
      permission: "admin",
      handler: () => Array.from(jobs.list(), toPublic),
    }),
    defineOperation({
      name: "job.get",
      summary: "One job.",
      params: Type.Object(
        { id: Type.String({ minLength: 1 }) },
        { additionalProperties: false },
      ),
      result: PublicJob,
      permission: "admin",
      handler({ id }) {
        const job = jobs.get(id);
        if (job === undefined)
          throw new XoError("NO_SUCH_OBJECT", { type: "job", id });
        return toPublic(job);
      },
    }),
  ];
}

function toPublic(job: Job): Static<typeof PublicJob> {
  const { id, name, type, userId, body } = job;
  return {
    ...{ id, name, type, body },
    ...(userId === undefined ? {} : { userId }),
  };
}
