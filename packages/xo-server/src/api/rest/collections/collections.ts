import { collectionExamples } from "./collection-examples.js";

/** Objects of one type, as a folder of the REST API. Routes and the specification follow from it. */
export interface Collection {
  /** In paths: `vms`. */
  readonly name: string;
  /** Of its objects in the catalog. */
  readonly type: string;
  /** Names by which tools built on the specification know its operations. */
  readonly operationIds: {
    readonly list: string;
    readonly get: string;
    /** `GetVm` where `/vms/{id}/alarms` is `GetVmAlarms`. */
    readonly sub: string;
    /** Default: `<sub>Messages`. */
    readonly messages?: string;
  };
  readonly subCollections: readonly SubCollection[];
  /** An object, for the specification: assistants take its keys as default fields. */
  readonly example: Readonly<Record<string, unknown>>;
}

export type SubCollection = "alarms" | "messages" | "vdis";

const messageCollections = ["alarms", "messages"] as const;
const diskCollections = ["alarms", "messages", "vdis"] as const;

/** Alarms are taken out of them: see alarms. */
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
  // Those of the real specification are named as those of `srs`: a name must be unique.
  define("sms", "SM", ["GetSms", "GetSm"]),
  define("pcis", "PCI", ["GetPcis", "GetPci"]),
  define("pgpus", "PGPU", ["GetPgpus", "GetPgpu"]),
];

const byType = new Map(
  collections
    .filter(({ name }) => name !== "alarms")
    .map((collection) => [collection.type, collection]),
);

/** The folder that objects of a type are in; undefined: in none. */
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
