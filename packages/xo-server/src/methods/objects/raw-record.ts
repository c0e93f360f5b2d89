import { toMaskedRecord } from "@xo-server/inventory";
import { XoError, type Ref } from "@xo-server/model";
import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";

const example = {
  id: "00000000-0000-4000-8000-000000000007",
  type: "VM",
  className: "VM",
  ref: "OpaqueRef:00000000-0000-4000-8000-000000000008",
  record: { uuid: "00000000-0000-4000-8000-000000000007", name_label: "web" },
};

const xoGetRawRecord = defineOperation({
  name: "xo.getRawRecord",
  summary:
    "Return the XAPI record of an object, from the server's mirror. Secrets are masked.",
  params: Type.Object({
    id: Type.String({
      minLength: 1,
      description: "Id or opaque reference of an object of any type.",
    }),
  }),
  result: Type.Object({
    id: Type.String(),
    type: Type.String(),
    className: Type.String({ description: "XAPI class of the object." }),
    ref: Type.String({ description: "Opaque reference of the object." }),
    record: Type.Record(Type.String(), Type.Unknown()),
  }),
  // Records have fields that no view shows.
  permission: "admin",
  rest: {
    method: "get",
    path: "/raw-records/{id}",
    exposure: "deny",
    operationId: "GetRawRecord",
    example,
  },
  handler: ({ id: input }, { services }) => {
    const entry = services.catalog.get(input);
    if (entry === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "object", id: input });
    const { id, type, pool, json } = entry;
    const object = JSON.parse(json.toString()) as { _xapiRef: Ref };
    const ref = object._xapiRef;
    const className = services.catalog.classOf(type)!;
    const record = services.inventory.peek(pool, className, ref);
    // A record is deleted before its view.
    if (record === undefined) throw new XoError("NO_SUCH_OBJECT", { type, id });
    return { id, type, className, ref, record: toMaskedRecord(record) };
  },
});

/** XAPI records of objects. */
export const rawRecordOperations = [xoGetRawRecord];
