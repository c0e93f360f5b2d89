import { pathOf } from "../objects/object-path.js";

export interface ObjectName {
  readonly type: string;
  readonly id: string;
}

const types = [
  "VM",
  "VM-template",
  "VM-snapshot",
  "host",
  "pool",
  "SR",
  "network",
];

/** The object whose page is at this path. */
export function objectOfPath(path: string): ObjectName | undefined {
  const [, list = "", id = ""] = path.split("/");
  if (id === "") return undefined;
  const type = types.find((one) => pathOf(one, id) === `/${list}/${id}`);
  return type === undefined ? undefined : { type, id };
}
