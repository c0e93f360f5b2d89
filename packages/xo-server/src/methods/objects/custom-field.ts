import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { idOf, onId } from "../definition/on-object.js";

/** Prefix of the `other_config` keys that XenCenter uses. */
const PREFIX = "XenCenter.CustomFields.";

const named = {
  id: idOf("an object of any type with custom fields"),
  name: Type.String({
    minLength: 1,
    maxLength: 256,
    description: "Name of the field.",
  }),
};
const valued = Type.Object({
  ...named,
  value: Type.String({ maxLength: 4096, description: "Value of the field." }),
});

const shared = {
  result: Type.Boolean(),
  permission: onId("administrate:custom-fields", "*"),
  changes: true,
};

const write = async (
  { objects }: Pick<OperationContext, "objects">,
  id: string,
  name: string,
  value?: string,
) => {
  const { xapi, type, ref } = objects.get(id);
  const method = `${objects.classOf(type)}.remove_from_other_config`;
  await xapi.call(method, [ref, PREFIX + name]);
  if (value === undefined) return true;
  const add = `${objects.classOf(type)}.add_to_other_config`;
  await xapi.call(add, [ref, PREFIX + name, value]);
  return true;
};

const customFieldAdd = defineOperation({
  ...shared,
  name: "customField.add",
  summary: "Add a custom field to an object.",
  params: valued,
  handler: ({ id, name, value }, context) => {
    if (Object.hasOwn(fieldsOf(context.objects.get(id)), PREFIX + name))
      throw new XoError("ALREADY_EXISTS", { type: `field ${name}` });
    return write(context, id, name, value);
  },
});

const customFieldSet = defineOperation({
  ...shared,
  name: "customField.set",
  summary: "Set a custom field of an object.",
  params: valued,
  handler: ({ id, name, value }, context) => {
    fieldsOf(context.objects.get(id));
    return write(context, id, name, value);
  },
});

const customFieldRemove = defineOperation({
  ...shared,
  name: "customField.remove",
  summary: "Remove a custom field from an object.",
  params: Type.Object(named),
  handler: ({ id, name }, context) => {
    fieldsOf(context.objects.get(id));
    return write(context, id, name);
  },
});

/** @throws XoError UNSUPPORTED: objects of this type have no `other_config` */
function fieldsOf({ type, object }: PoolObject): object {
  // Names of `other_config` in the views of the types.
  const fields =
    object["other_config"] ?? object["otherConfig"] ?? object["other"];
  if (typeof fields === "object" && fields !== null) return fields;
  throw new XoError("UNSUPPORTED", {
    what: `a field of a ${type}`,
    reason: "XAPI has no such field",
  });
}

/** Custom fields of objects, with names chosen by users. */
export const customFieldOperations = [
  customFieldAdd,
  customFieldSet,
  customFieldRemove,
];
