import { randomUUID } from "node:crypto";

/** Key in other_config of objects that are created without a task. */
export const CREATION_MARK = "xo-creation";

/** @returns an entry of the other_config of a new object, by which it is found if the answer to its creation is lost */
export function creationMark(): Readonly<Record<string, string>> {
  return { [CREATION_MARK]: randomUUID() };
}

/** Key in other_config of XAPI tasks: identifies the call that has created the task. */
export const CALL_MARK = "xo-call";
