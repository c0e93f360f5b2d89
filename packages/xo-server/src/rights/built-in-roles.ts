import type { Privilege } from "./privilege.js";

export interface Role {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly privileges: readonly Privilege[];
}

const allow = (action: string): Privilege => ({
  effect: "allow",
  resource: "*",
  action,
});

/** Roles that are there from the start and cannot be changed. */
export const builtInRoles: readonly Role[] = [
  {
    id: "viewer",
    name: "viewer",
    description: "Sees everything of the pools, changes nothing.",
    privileges: [allow("read")],
  },
  {
    id: "operator",
    name: "operator",
    description: "Sees everything; starts, stops, snapshots and moves VMs.",
    privileges: [allow("read"), allow("operate")],
  },
  {
    id: "admin",
    name: "admin",
    description: "May do everything to the pools' objects.",
    privileges: [allow("*")],
  },
];
