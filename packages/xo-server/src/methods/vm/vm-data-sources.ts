import { XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { id } from "../../vms/parameters/vm-parameters.js";
import { onId } from "../definition/on-object.js";

const name = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 256,
    description: "Name of the data source, such as cpu0.",
  }),
);

const params = Type.Object({
  id,
  dataSource: name,
  data_source: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Same as dataSource, for the path of the REST API.",
    }),
  ),
});

const shared = {
  params,
  result: Type.Boolean(),
  permission: onId("administrate:set", "VM"),
  changes: true,
};

async function changeDataSource(
  { objects }: Pick<OperationContext, "objects">,
  input: Static<typeof params>,
  verb: "forget_data_source_archives" | "record_data_source",
): Promise<true> {
  const { dataSource = input.data_source } = input;
  if (dataSource === undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "dataSource is missing",
    });
  const { xapi, ref } = objects.get(input.id, "VM");
  await xapi.call(`VM.${verb}`, [ref, dataSource]);
  return true;
}

const remove = {
  ...shared,
  summary: "Stop recording a data source of a VM and delete its archives.",
  handler: (input: Static<typeof params>, context: OperationContext) =>
    changeDataSource(context, input, "forget_data_source_archives"),
};

const vmAddDataSource = defineOperation({
  ...shared,
  name: "vm.addDataSource",
  summary: "Start recording a data source of a VM.",
  rest: route("put", "AddDataSource"),
  handler: (params, context) =>
    changeDataSource(context, params, "record_data_source"),
});

const vmRemoveDataSource = defineOperation({
  ...remove,
  name: "vm.removeDataSource",
  rest: route("delete", "DeleteDataSource"),
});

const vmDeleteDataSource = defineOperation({
  ...remove,
  name: "vm.deleteDataSource",
});

function route(method: "put" | "delete", operationId: string): RestRoute {
  return {
    method,
    operationId,
    exposure: "confirm",
    path: "/vms/{id}/stats/data_source/{data_source}",
  };
}

/** Recording of RRD data sources of a VM that are not recorded by default. */
export const vmDataSourcesOperations = [
  vmAddDataSource,
  vmRemoveDataSource,
  vmDeleteDataSource,
];
