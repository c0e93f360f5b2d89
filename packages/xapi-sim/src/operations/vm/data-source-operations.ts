import type { CallContext, OperationTable } from "../../operation.js";
import { assertNotBlocked } from "../effects/blocked-operations.js";
import { XapiFailure, internalError } from "../../xapi-failure.js";
import type { XapiValue } from "../../xapi-value.js";
import {
  dataSourcesOfHost,
  dataSourcesOfSr,
  dataSourcesOfVm,
} from "./data-sources.js";
import { text, textParam } from "../../records/fields.js";

/** What is measured of hosts, VMs and SRs, and how much it is now. */
export const dataSourceOperations: OperationTable = {
  "host.get_data_sources": (context, params) =>
    dataSourcesOfHost(context, textParam(params, 0)),
  "VM.get_data_sources": (context, params) =>
    dataSourcesOfVm(runningVm(context, params), textParam(params, 0)),
  "host.query_data_source": (context, params) =>
    valueOf(
      dataSourcesOfHost(context, textParam(params, 0)),
      textParam(params, 1),
    ),
  "VM.query_data_source": (context, params) =>
    valueOf(
      dataSourcesOfVm(
        // XAPI joins these two states by a semicolon.
        runningVm(context, params, "running;paused"),
        textParam(params, 0),
      ),
      textParam(params, 1),
    ),
  "host.record_data_source": (context, params) => {
    checkSource(dataSourcesOfHost(context, textParam(params, 0)), params);
  },
  "VM.record_data_source": (context, params) => {
    checkSource(
      dataSourcesOfVm(runningVm(context, params), textParam(params, 0)),
      params,
    );
  },
  "VM.forget_data_source_archives": (context, params) => {
    assertNotBlocked(context.db, textParam(params, 0), "data_source_op");
    checkSource(dataSourcesOfVm(context, textParam(params, 0)), params);
  },
  "host.forget_data_source_archives": () => undefined,
  "SR.get_data_sources": (context, params) =>
    dataSourcesOfSr(context, textParam(params, 0)),
  "SR.query_data_source": (context, params) =>
    valueOf(
      dataSourcesOfSr(context, textParam(params, 0)),
      textParam(params, 1),
    ),
  "SR.record_data_source": (context, params) => {
    checkSource(dataSourcesOfSr(context, textParam(params, 0)), params);
  },
};

/** @throws XapiFailure VM_BAD_POWER_STATE */
function runningVm(
  context: CallContext,
  params: readonly XapiValue[],
  expected = "running",
): CallContext {
  const vm = textParam(params, 0);
  assertNotBlocked(context.db, vm, "data_source_op");
  const state = text(context.db.get("VM", vm), "power_state").toLowerCase();
  if (!expected.split(";").includes(state))
    throw new XapiFailure("VM_BAD_POWER_STATE", [vm, expected, state]);
  return context;
}

function checkSource(
  sources: readonly { readonly name_label: string }[],
  params: readonly XapiValue[],
): void {
  const name = textParam(params, 1);
  if (!sources.some(({ name_label }) => name_label === name))
    throw new XapiFailure("INTERNAL_ERROR", ["Rrd.Invalid_data_source"]);
}

function valueOf(
  sources: readonly { readonly name_label: string; readonly value: number }[],
  name: string,
): number {
  const source = sources.find((candidate) => candidate.name_label === name);
  if (source === undefined)
    throw internalError(
      `IDL Error: [S(Rrdd_internal_error);S(Rrd.Invalid_data_source(${JSON.stringify(name)}))]`,
    );
  return source.value;
}
