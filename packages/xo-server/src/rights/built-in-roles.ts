import type { Privilege } from "./privilege.js";

interface Role {
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

/** Predefined roles, which cannot be changed. */
export const builtInRoles: readonly Role[] = [
  {
    id: "viewer",
    name: "viewer",
    description: "Reads all objects of pools, changes nothing.",
    privileges: [allow("read")],
  },
  {
    id: "operator",
    name: "operator",
    description:
      "Reads all objects of pools; starts, stops, snapshots and migrates VMs.",
    privileges: [allow("read"), allow("operate")],
  },
  {
    id: "admin",
    name: "admin",
    description: "Has all rights on the objects of pools.",
    privileges: [allow("*")],
  },
];
