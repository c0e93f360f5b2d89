import {
  toMaskedRecord,
  type Catalog,
  type Inventory,
} from "@xo-server/inventory";
import { XoError, type Ref } from "@xo-server/model";
import { Type } from "typebox";
import { defineOperation } from "./define-operation.js";

export interface RawRecordParts {
  readonly catalog: Pick<Catalog, "get" | "classOf">;
  readonly inventory: Pick<Inventory, "peek">;
}

const example = {
  id: "00000000-0000-4000-8000-000000000007",
  type: "VM",
  className: "VM",
  ref: "OpaqueRef:00000000-0000-4000-8000-000000000008",
  record: { uuid: "00000000-0000-4000-8000-000000000007", name_label: "web" },
};

export const xoGetRawRecord = defineOperation({
  name: "xo.getRawRecord",
  summary:
    "The record of XAPI behind an object, as it is known here now; secrets are masked.",
  params: Type.Object({
    id: Type.String({
      minLength: 1,
      description: "Of any object, or its reference.",
    }),
  }),
  result: Type.Object({
    id: Type.String(),
    type: Type.String(),
    className: Type.String({ description: "XAPI's name of its class." }),
    ref: Type.String({ description: "XAPI's name of the object." }),
    record: Type.Record(Type.String(), Type.Unknown()),
  }),
  // Even without its secrets it tells of what no view shows.
  permission: "admin",
  rest: {
    method: "get",
    path: "/raw-records/{id}",
    exposure: "deny",
    operationId: "GetRawRecord",
    example,
  },
  handler: ({ id: given }, { services }) => {
    const entry = services.catalog.get(given);
    if (entry === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "object", id: given });
    const { id, type, pool, json } = entry;
    const object = JSON.parse(json.toString()) as { _xapiRef: Ref };
    const ref = object._xapiRef;
    const className = services.catalog.classOf(type)!;
    const record = services.inventory.peek(pool, className, ref);
    // Between the record's going and the view's.
    if (record === undefined) throw new XoError("NO_SUCH_OBJECT", { type, id });
    return { id, type, className, ref, record: toMaskedRecord(record) };
  },
});

/** What XAPI itself says of objects. */
export const rawRecordOperations = [xoGetRawRecord];
