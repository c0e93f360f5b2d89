import { XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import type { PoolObjects } from "../objects/pool-objects.js";
import { defineOperation, type Operation } from "../operations/operation.js";
import type { RestRoute } from "../operations/rest-route.js";
import { id } from "../vms/vm-parameters.js";
import { onId } from "./on-object.js";

const name = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }));

const params = Type.Object({
  id,
  dataSource: name,
  data_source: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "The same, as the path names it.",
    }),
  ),
});

/** What is measured of a VM beyond the usual. */
export function vmDataSourceMethods(objects: PoolObjects): Operation[] {
  const shared = {
    params,
    result: Type.Boolean(),
    permission: onId("administrate:set", "VM"),
    changes: true,
  };
  const change =
    (verb: string) =>
    async (given: Static<typeof params>): Promise<true> => {
      const { dataSource = given.data_source } = given;
      if (dataSource === undefined)
        throw new XoError("INVALID_PARAMETERS", {
          reason: "dataSource is missing",
        });
      const { xapi, ref } = objects.get(given.id, "VM");
      await xapi.call(`VM.${verb}`, [ref, dataSource]);
      return true;
    };
  const remove = {
    ...shared,
    summary: "Forgets what was measured of a VM, and measures it no more.",
    handler: change("forget_data_source_archives"),
  };
  return [
    defineOperation({
      ...shared,
      name: "vm.addDataSource",
      summary: "Has something more measured of a VM.",
      rest: route("put", "AddDataSource"),
      handler: change("record_data_source"),
    }),
    defineOperation({
      ...remove,
      name: "vm.removeDataSource",
      rest: route("delete", "DeleteDataSource"),
    }),
    defineOperation({ ...remove, name: "vm.deleteDataSource" }),
  ];
}

function route(method: "put" | "delete", operationId: string): RestRoute {
  return {
    method,
    operationId,
    exposure: "confirm",
    path: "/vms/{id}/stats/data_source/{data_source}",
  };
}
