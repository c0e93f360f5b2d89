/** Actions and types that a form offers; any other can be typed. */
export const actions = [
  ...["*", "read", "operate", "administrate"],
  ...["operate:start", "operate:shutdown", "operate:reboot"],
  ...["operate:suspend", "operate:resume", "operate:pause"],
  ...["operate:snapshot", "operate:revert", "operate:migrate"],
  ...["administrate:set", "administrate:tags", "administrate:delete"],
  ...["administrate:clone", "administrate:create-vdi"],
] as const;

export const resources = [
  ...["*", "VM", "VM-template", "VM-snapshot", "host", "pool", "SR", "VDI"],
  ...["network", "PIF", "VIF", "VBD"],
  ...["user", "group", "acl-role", "acl-privilege"],
] as const;
