import { datamodel, type MessageModel } from "@xo-server/model";
import { fieldType, type FieldType } from "../field-type.js";

/** One message of the datamodel, ready to be called. */
export interface Method {
  /** `VM.get_all` */
  readonly fullName: string;
  readonly className: string;
  readonly name: string;
  readonly model: MessageModel;
  readonly params: readonly FieldType[];
  /** Parameters that must be there; the rest has defaults. */
  readonly required: number;
  readonly result: FieldType | undefined;
}

const byName = new Map<string, Method>();
const byOldName = new Map<string, Method>();

for (const [className, model] of Object.entries(datamodel.classes)) {
  for (const [name, message] of Object.entries(model.messages)) {
    const method = toMethod(className, name, message);
    byName.set(method.fullName, method);
    byOldName.set(`${className}_${name}`, method);
  }
}

function toMethod(
  className: string,
  name: string,
  model: MessageModel,
): Method {
  return {
    fullName: `${className}.${name}`,
    className,
    name,
    model,
    params: model.params.map(([, type]) => fieldType(type)),
    required: model.params.filter((param) => param.length < 3).length,
    result: model.result === undefined ? undefined : fieldType(model.result),
  };
}

/** Finds `VM.get_all` and, as XAPI still does, `VM_get_all`. Case matters. */
export function findMethod(name: string): Method | undefined {
  return byName.get(name) ?? byOldName.get(name);
}

/** All names, without the Async forms: system.listMethods. */
export function methodNames(): string[] {
  return [...byName.keys()];
}
