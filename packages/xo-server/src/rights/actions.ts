const operate = [
  "attach",
  "connect",
  "console",
  "disconnect",
  "eject-cd",
  "insert-cd",
  "migrate",
  "pause",
  "place",
  "reclaim-space",
  "restart",
  "resume",
  "revert",
  "scan",
  "send",
  "set",
  "set-locking",
  "snapshot",
  "start",
  "stop",
  "store",
  "suspend",
  "use",
] as const;

const administrate = [
  "add-host",
  "attach",
  "attach-disk",
  "cancel",
  "clone",
  "coalesce",
  "connect",
  "console",
  "convert",
  "create-interface",
  "create-network",
  "create-sr",
  "create-vdi",
  "create-vif",
  "create-vm",
  "create-vtpm",
  "create-vusb",
  "custom-fields",
  "delete",
  "destroy",
  "detach",
  "disable",
  "disconnect",
  "enable",
  "evacuate",
  "export",
  "forget",
  "import-content",
  "import-vm",
  "logs",
  "maintenance",
  "migrate",
  "place",
  "restart",
  "restore",
  "scan",
  "set",
  "start",
  "stop",
  "tags",
  "unplug",
  "update",
  "verify",
] as const;

/** Part of an action after `operate:` or `administrate:`. */
export type OperateVerb = (typeof operate)[number];
export type AdministrateVerb = (typeof administrate)[number];

/** An action for which operations check a right. */
export type Action =
  | "read"
  | `operate:${OperateVerb}`
  | `administrate:${AdministrateVerb}`;

/** All actions that a privilege can name: those of operations, and their groups. */
export const actions: readonly string[] = [
  "*",
  "read",
  "operate",
  "administrate",
  ...operate.map((name) => `operate:${name}`),
  ...administrate.map((name) => `administrate:${name}`),
];
