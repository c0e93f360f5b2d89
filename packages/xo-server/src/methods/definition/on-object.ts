import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { Type } from "typebox";
import type { PoolObjects } from "../../objects/pool-objects.js";
import type { RestRoute } from "../../operations/rest-route.js";
import type { Action } from "../../rights/actions.js";

/** Schema of a parameter with the id of an object. */
export function idOf(what: string) {
  return Type.String({ minLength: 1, description: `Id of ${what}.` });
}

/**
 * Requires a privilege for the object of the parameter `id`; `*`: the handler
 * checks the type of the object.
 */
export function onId(action: Action, resource: string) {
  return { action, resource, id: ({ id }: { readonly id: string }) => id };
}

/** `POST /srs/{id}/actions/scan`, operation id ScanSr. */
export function actionRoute(
  path: string,
  operationId: string,
  more: Partial<RestRoute> = {},
): RestRoute {
  return {
    ...more,
    method: "post",
    path,
    operationId,
    exposure: "confirm",
    isAction: true,
  };
}

/** `DELETE /srs/{id}`, operation id DeleteSr. */
export function deleteRoute(path: string, operationId: string): RestRoute {
  return {
    method: "delete",
    path,
    operationId,
    exposure: "confirm",
    status: 204,
  };
}

/** XAPI's null reference. */
export const NO_REF = "OpaqueRef:NULL";

interface Made {
  readonly type: string;
  readonly ref: unknown;
}

/**
 * The id of an object that was just created. The dispatcher delays the response
 * until the mirror shows the object.
 */
export async function idOfMade(
  objects: PoolObjects,
  xapi: Xapi,
  { type, ref }: Made,
): Promise<string> {
  const uuid = await xapi.call(`${objects.classOf(type)}.get_uuid`, [ref]);
  if (typeof uuid !== "string")
    throw new XoError("INTERNAL", { reason: `the new ${type} has no uuid` });
  return uuid;
}

/** Calls `<class>.set_<field>` for each field that has a value. */
export async function setFields(
  xapi: Xapi,
  { className, ref }: { readonly className: string; readonly ref: Ref },
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (const [field, value] of Object.entries(fields))
    if (value !== undefined)
      await xapi.call(`${className}.set_${field}`, [ref, value]);
}
