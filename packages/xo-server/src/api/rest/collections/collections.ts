import { collectionExamples } from "./collection-examples.js";

/** Objects of one type in the REST API. Routes and the OpenAPI document are derived from it. */
export interface Collection {
  /** First path segment: `vms`. */
  readonly name: string;
  /** Type of its objects in the catalog. */
  readonly type: string;
  /** OpenAPI operation ids, as in Xen Orchestra. */
  readonly operationIds: {
    readonly list: string;
    readonly get: string;
    /**
     * Infix of operation ids of routes below an object: `GetVm` makes
     * `/vms/{id}/alarms` `GetVmAlarms`.
     */
    readonly sub: string;
    /** Default: `<sub>Messages`. */
    readonly messages?: string;
  };
  readonly subCollections: readonly SubCollection[];
  /** Example object of the OpenAPI document: MCP servers use its keys as default fields. */
  readonly example: Readonly<Record<string, unknown>>;
}

export type SubCollection = "alarms" | "messages" | "vdis";

const messageCollections = ["alarms", "messages"] as const;
const diskCollections = ["alarms", "messages", "vdis"] as const;

/** Collections of the REST API. `messages` does not contain alarms, see alarms.ts. */
export const collections: readonly Collection[] = [
  define("pools", "pool", ["GetPools", "GetPool"], messageCollections),
  define("hosts", "host", ["GetHosts", "GetHost"], messageCollections),
  define("vms", "VM", ["GetVms", "GetVm"], diskCollections),
  define(
    "vm-templates",
    "VM-template",
    ["GetVmTemplates", "GetVmTemplate"],
    diskCollections,
  ),
  define("vm-snapshots", "VM-snapshot", ["GetVmSnapshots", "GetVmSnapshot"], {
    subCollections: diskCollections,
    messages: "GetVmSnapshotsMessages",
  }),
  define(
    "vm-controllers",
    "VM-controller",
    ["GetVmControllers", "GetVmController"],
    diskCollections,
  ),
  define("srs", "SR", ["GetSrs", "GetSr"], messageCollections),
  define("vdis", "VDI", ["GetVdis", "GetVdi"], messageCollections),
  define(
    "vdi-snapshots",
    "VDI-snapshot",
    ["GetVdiSnapshots", "GetVdiSnapshot"],
    messageCollections,
  ),
  define("vbds", "VBD", ["GetVbds", "GetVbd"], messageCollections),
  define("vifs", "VIF", ["GetVifs", "GetVif"], messageCollections),
  define("pifs", "PIF", ["GetPifs", "GetPif"], messageCollections),
  define(
    "networks",
    "network",
    ["GetNetworks", "GetNetwork"],
    messageCollections,
  ),
  define("pbds", "PBD", ["GetPbds", "GetPbd"]),
  define("messages", "message", ["GetMessages", "GetMessage"]),
  define("alarms", "message", ["GetAlarms", "GetAlarm"]),
  // Xen Orchestra uses the ids of `srs` here; ids must be unique.
  define("sms", "SM", ["GetSms", "GetSm"]),
  define("pcis", "PCI", ["GetPcis", "GetPci"]),
  define("pgpus", "PGPU", ["GetPgpus", "GetPgpu"]),
];

const byType = new Map(
  collections
    .filter(({ name }) => name !== "alarms")
    .map((collection) => [collection.type, collection]),
);

/** The collection of a type; undefined: none. */
export function collectionOf(type: string): Collection | undefined {
  return byType.get(type);
}

interface More {
  readonly subCollections: readonly SubCollection[];
  readonly messages?: string;
}

function define(
  name: string,
  type: string,
  [list, get]: readonly [string, string],
  more: More | readonly SubCollection[] = [],
): Collection {
  const { subCollections, messages } =
    "subCollections" in more
      ? { messages: `${get}Messages`, ...more }
      : { subCollections: more, messages: `${get}Messages` };
  return {
    name,
    type,
    operationIds: { list, get, sub: get, messages },
    subCollections,
    example: collectionExamples[name] ?? {},
  };
}
