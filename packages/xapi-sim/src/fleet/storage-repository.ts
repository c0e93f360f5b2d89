import type {
  DraftObject,
  FleetBuilder,
  FleetFields,
} from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import {
  isoSrOperations,
  srOperations,
} from "../records/allowed-operations.js";

/** Which hosts reach an SR, and over which network. */
interface SrAccess {
  readonly hosts: readonly FleetHost[];
  readonly device_config: Readonly<Record<string, string>>;
}

/** An SR and a plugged PBD on each host that reaches it. */
export function addSr(
  builder: FleetBuilder,
  fields: FleetFields,
  { hosts, device_config }: SrAccess,
): DraftObject {
  const iso = fields["content_type"] === "iso";
  const sr = builder.add("SR", {
    allowed_operations: iso ? isoSrOperations : srOperations,
    content_type: "user",
    ...fields,
  });
  for (const { host } of hosts)
    builder.add("PBD", {
      host: host.ref,
      SR: sr.ref,
      device_config,
      currently_attached: true,
    });
  return sr;
}
