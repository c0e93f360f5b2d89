import { datamodel } from "@xo-server/model";
import type { FleetBuilder } from "./fleet-builder.js";
import { uuidOf } from "./seeded-random.js";

/** The roles from most to least rights; uuids as every XAPI has them. */
const ranks: readonly (readonly [string, string, string])[] = [
  [
    "pool-admin",
    "0165f154-ba3e-034e-6b27-5d271af109ba",
    "The Pool Administrator role has full access to all features and settings, including accessing Dom0 and managing subjects, roles and external authentication",
  ],
  [
    "pool-operator",
    "b9ce9791-0604-50cd-0649-09b3284c7dfd",
    "The Pool Operator role manages host- and pool-wide resources, including setting up storage, creating resource pools and managing patches, high availability (HA) and workload balancing (WLB)",
  ],
  [
    "vm-power-admin",
    "7955168d-7bec-10ed-105f-c6a7e6e63249",
    "The VM Power Administrator role has full access to VM and template management and can choose where to start VMs and use the dynamic memory control and VM snapshot features",
  ],
  [
    "vm-admin",
    "aaa00ab5-7340-bfbc-0d1b-7cf342639a6e",
    "The VM Administrator role can manage VMs and templates",
  ],
  [
    "vm-operator",
    "fb8d4ff9-310c-a959-0613-54101535d3d5",
    "The VM Operator role can use VMs and interact with VM consoles",
  ],
  [
    "read-only",
    "7233b8e3-eacb-d7da-2c95-f2e581cdbf4e",
    "The Read-Only role can log in with basic read-only access",
  ],
];

/** Reference of the role that may do everything. */
export const POOL_ADMIN_ROLE = `OpaqueRef:${ranks[0]![1]}`;
export const VM_OPERATOR_ROLE = `OpaqueRef:${ranks[4]![1]}`;

/** The roles, and one permission for each message; uuid and reference are the same and do not depend on the seed. */
export function addRoles(builder: FleetBuilder): void {
  const permissions = ranks.map((): string[] => []);
  for (const [className, { messages }] of Object.entries(datamodel.classes))
    for (const [message, { role, removed }] of Object.entries(messages)) {
      if (removed === true) continue;
      const name_label = `${className}.${message}`.toLowerCase();
      const ref = addRole(builder, uuidOf(name_label), {
        name_label,
        name_description: "A basic permission",
        is_internal: true,
      });
      const least = ranks.findIndex(([name]) => name === role);
      const mayRank = least === -1 ? 0 : least;
      for (let rank = 0; rank <= mayRank; rank++) permissions[rank]!.push(ref);
    }
  ranks.forEach(([name_label, uuid, name_description], rank) =>
    addRole(builder, uuid, {
      name_label,
      name_description,
      subroles: permissions[rank]!,
    }),
  );
}

function addRole(
  builder: FleetBuilder,
  uuid: string,
  fields: Parameters<FleetBuilder["add"]>[1],
): string {
  return builder.add("role", { ...fields, uuid }, `OpaqueRef:${uuid}`).ref;
}
