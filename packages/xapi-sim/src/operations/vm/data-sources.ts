import type { CallContext } from "../../operation.js";
import { text } from "../../records/fields.js";
import type { Metric } from "../../rrd/metric.js";
import { hostMetrics, srMetrics, vmMetrics } from "../../rrd/metrics.js";

/** A row of get_data_sources, members as XAPI orders them. */
interface DataSource {
  readonly name_label: string;
  readonly name_description: string;
  readonly enabled: boolean;
  readonly standard: boolean;
  readonly units: string;
  readonly min: number;
  readonly max: number;
  readonly value: number;
}

/** host.get_data_sources */
export function dataSourcesOfHost(
  context: CallContext,
  host: string,
): readonly DataSource[] {
  const now = context.clock.now();
  return hostMetrics(context, host).map((metric) => toSource(metric, now));
}

/** VM.get_data_sources: none unless the VM runs. */
export function dataSourcesOfVm(
  context: CallContext,
  vm: string,
): readonly DataSource[] {
  const now = context.clock.now();
  if (text(context.db.get("VM", vm), "power_state") !== "Running") return [];
  return vmMetrics(context, vm).map((metric) => toSource(metric, now));
}

/** SR.get_data_sources */
export function dataSourcesOfSr(
  { db, clock }: CallContext,
  sr: string,
): readonly DataSource[] {
  return srMetrics(db, sr).map((metric) => toSource(metric, clock.now()));
}

function toSource(metric: Metric, now: number): DataSource {
  return {
    name_label: metric.name,
    name_description: metric.description,
    enabled: true,
    standard: true,
    units: metric.units,
    min: 0,
    max: metric.max,
    // That of the last row of rrd_updates.
    value: metric.valueAt(Math.floor(now / 5000) * 5),
  };
}
