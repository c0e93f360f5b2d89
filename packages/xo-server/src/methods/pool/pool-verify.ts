import { Type } from "typebox";
import type { RecordDifference } from "@xo-server/inventory";
import { toErrorSummary } from "../../status/error-summary.js";
import { defineOperation } from "../definition/define-operation.js";
import { actionRoute, idOf, onId } from "../definition/on-object.js";

const Difference = Type.Object({
  className: Type.String({ description: "XAPI class, such as VM." }),
  ref: Type.String({ description: "Opaque reference." }),
  kind: Type.Enum(["missing", "deleted", "different"], {
    description:
      "missing: the server did not have the object; deleted: the pool no longer has it; different: other content.",
  }),
  fields: Type.Array(Type.String(), {
    description: "Fields of the record that differed.",
  }),
});

const Verification = Type.Object({
  classes: Type.Integer({ description: "Number of compared classes." }),
  records: Type.Integer({ description: "Number of compared records." }),
  differing: Type.Integer({
    description: "Number of objects that differed, and were read again.",
  }),
  differences: Type.Array(Difference, {
    description: "The first 1,000 differences.",
  }),
  failed: Type.Array(
    Type.Object({ className: Type.String(), error: Type.String() }),
    { description: "Classes that the pool could not list." },
  ),
});

/** Maximum number of differences in an answer; all differences are repaired. */
const MAX_NAMED = 1_000;

const poolVerify = defineOperation({
  name: "pool.verify",
  summary:
    "Compare the server's mirror of a pool with the records of the pool, and correct differences.",
  params: Type.Object({
    id: idOf("a pool"),
    classes: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: 200,
        description: "XAPI classes to compare, such as VM. Default: all.",
      }),
    ),
  }),
  result: Verification,
  permission: onId("administrate:verify", "pool"),
  rest: actionRoute("/pools/{id}/actions/verify", "VerifyPool"),
  handler: async ({ id, classes }, context) => {
    const { objects, services, signal } = context;
    objects.get(id, "pool");
    const result = await services.inventory.verify(objects.connectionOf(id)!, {
      signal,
      ...(classes === undefined ? {} : { classes }),
      onProgress: (fraction) => {
        context.progress(fraction);
      },
    });
    return {
      classes: result.classes,
      records: result.records,
      differing: result.differences.length,
      differences: result.differences.slice(0, MAX_NAMED).map(toDifference),
      failed: result.failed.map(({ className, error }) => ({
        className,
        error: toErrorSummary(error).message,
      })),
    };
  },
});

function toDifference({ className, ref, kind, fields }: RecordDifference) {
  return { className, ref, kind, fields: [...fields] };
}

export const poolVerifyOperations = [poolVerify];
