import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { checkLevel } from "../../operations/access.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";

const MAX_IDS = 500;
const MAX_METHODS = 200;
const name = Type.String({ minLength: 1, maxLength: 128 });

const Question = Type.Object({
  method: name,
  idParameter: Type.String({
    minLength: 1,
    maxLength: 64,
    default: "id",
    description: "The parameter of the operation that names the object.",
  }),
});

const operationListAllowed = defineOperation({
  name: "operation.listAllowed",
  summary:
    "List the operations that the caller's rights allow on objects. The state of the objects is not considered.",
  params: Type.Object({
    ids: Type.Array(name, {
      minItems: 1,
      maxItems: MAX_IDS,
      description: "Ids of the objects.",
    }),
    operations: Type.Array(Question, {
      minItems: 1,
      maxItems: MAX_METHODS,
      description: "Operations to check for each object.",
    }),
  }),
  result: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: "Names of the allowed operations, by the id of the object.",
  }),
  permission: "viewer",
  async handler({ ids, operations }, context) {
    const allowed: Record<string, string[]> = {};
    const steps = function* () {
      for (const id of ids) {
        allowed[id] = operations
          .filter((question) => isAllowedOn(context, question, id))
          .map(({ method }) => method);
        yield;
      }
    };
    await context.services.inventory.runInSlices("allowed", steps());
    return allowed;
  },
});

function isAllowedOn(
  context: OperationContext,
  question: { readonly method: string; readonly idParameter: string },
  id: string,
): boolean {
  const operation = context.dispatcher.find(question.method);
  if (operation === undefined) return false;
  const { permission } = operation;
  try {
    if (typeof permission === "string") checkLevel(context, permission);
    else {
      const { action, resource } = permission;
      checkLevel(context, action === "read" ? "viewer" : "user");
      const params = { [question.idParameter]: id };
      const checked: unknown = permission.id(params as never);
      // Further parameters determine the object; only the call itself can check it.
      if (checked === id) context.check(action, resource, id);
    }
    return true;
  } catch (error) {
    if (error instanceof XoError) return false;
    throw error;
  }
}

export const allowedOperationsOperations = [operationListAllowed];
