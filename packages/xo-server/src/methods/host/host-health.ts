import { X509Certificate } from "node:crypto";
import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject } from "../../objects/pool-objects.js";
import { readClockOffset } from "../../health/host-clocks.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { idOf, onId } from "../definition/on-object.js";

const id = idOf("a host");
/** The result of a host plugin. */
const pluginResult = Type.Unknown({
  description: "Result of the host's plugin, unchanged.",
});

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "host");

const params = Type.Object({ id });

const permission = onId("read", "host");

const plugin = (name: string, summary: string, [file, fn]: Plugin) =>
  defineOperation({
    name,
    summary,
    params,
    result: pluginResult,
    permission,
    handler: async ({ id }, context) =>
      parse(await callPlugin(on(context, id), [file, fn])),
  });

const isSmt = async (context: OperationContext, id: string) =>
  (await callPlugin(on(context, id), [
    "hyperthreading.py",
    "get_hyperthreading",
  ])) === "true";

const hostIsHyperThreadingEnabled = defineOperation({
  name: "host.isHyperThreadingEnabled",
  summary: "Return whether hyper-threading is enabled on a host.",
  params,
  result: Type.Boolean(),
  permission,
  handler: ({ id }, context) => isSmt(context, id),
});

const hostGetSmt = defineOperation({
  name: "host.getSmt",
  summary: "Return whether hyper-threading is enabled on a host.",
  params,
  permission,
  result: Type.Object({ enabled: Type.Boolean() }),
  rest: {
    method: "get",
    path: "/hosts/{id}/smt",
    operationId: "GethostSmt",
    exposure: "allow",
    example: { enabled: true },
  },
  handler: async ({ id }, context) => ({ enabled: await isSmt(context, id) }),
});

const hostGetBiosInfo = defineOperation({
  name: "host.getBiosInfo",
  summary:
    "Return the firmware (BIOS) version of a host. Does not check for newer versions.",
  params,
  permission,
  result: Type.Object({}, { additionalProperties: Type.String() }),
  handler: ({ id }, context) => toBios(on(context, id)),
});

const hostGetSmartctlInformation = defineOperation({
  name: "host.getSmartctlInformation",
  summary: "Return the SMART attributes of the disks of a host.",
  params: Type.Object({
    id,
    deviceNames: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 1_000,
        description: "Names of block devices, such as sda. Default: all.",
      }),
    ),
  }),
  result: pluginResult,
  permission,
  handler: async ({ id, deviceNames }, context) => {
    const plugin: Plugin = ["smartctl.py", "information"];
    const all = parse(await callPlugin(on(context, id), plugin));
    if (deviceNames === undefined || !isObject(all)) return all;
    const requested = new Set(deviceNames);
    return Object.fromEntries(
      Object.entries(all).filter(([name]) => requested.has(name)),
    );
  },
});

const hostIsHostServerTimeConsistent = defineOperation({
  name: "host.isHostServerTimeConsistent",
  summary:
    "Return whether the clock of a host (NTP) differs from that of the server by less than 2 s.",
  params: Type.Object({ host: id }),
  result: Type.Boolean(),
  permission: { ...permission, id: ({ host }) => host },
  handler: async ({ host }, context) => {
    const offset = await readClockOffset(
      on(context, host),
      context.services.clock,
    );
    return Math.abs(offset) < MAX_CLOCK_OFFSET + 0.5;
  },
});

const hostIsPubKeyTooShort = defineOperation({
  name: "host.isPubKeyTooShort",
  summary: "Return whether the TLS key of a host has fewer than 2,048 bits.",
  params,
  result: Type.Boolean(),
  permission,
  handler: async ({ id }, context) => {
    const { xapi, ref } = on(context, id);
    const pem = await xapi.call("host.get_server_certificate", [ref]);
    return isShort(String(pem));
  },
});

/** @throws XoError UNSUPPORTED: the host has no readable certificate */
function isShort(pem: string): boolean {
  try {
    const { asymmetricKeyDetails: key } = new X509Certificate(pem).publicKey;
    return (key?.modulusLength ?? Infinity) < 2048;
  } catch {
    throw new XoError("UNSUPPORTED", {
      what: "host.isPubKeyTooShort",
      reason: "the certificate of the host cannot be read",
    });
  }
}

/** Maximum clock difference, in seconds. */
const MAX_CLOCK_OFFSET = 2;

type Plugin = readonly [file: string, fn: string];

async function callPlugin(
  { xapi, ref }: PoolObject,
  [file, fn]: Plugin,
): Promise<string> {
  const params = [ref, file, fn, {}];
  const reads = { idempotent: true };
  return String(await xapi.call("host.call_plugin", params, reads));
}

/** @throws XoError UNSUPPORTED: the answer of the plugin is not JSON */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const reason = "the plugin of the host did not return JSON";
    throw new XoError("UNSUPPORTED", { what: "this", reason });
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toBios({ object }: PoolObject): Record<string, string> {
  const strings = object["bios_strings"] as Readonly<Record<string, string>>;
  const names = {
    currentBiosVersion: "bios-version",
    biosVendor: "bios-vendor",
    systemManufacturer: "system-manufacturer",
    systemProductName: "system-product-name",
  };
  return Object.fromEntries(
    Object.entries(names)
      .filter(([, key]) => Object.hasOwn(strings, key))
      .map(([name, key]) => [name, strings[key]!]),
  );
}

/** XAPI's `20260101T00:00:00Z`. */
/** Health of hosts, from XAPI and from plugins of XCP-ng. */
export const hostHealthOperations = [
  hostIsHyperThreadingEnabled,
  hostGetSmt,
  hostGetBiosInfo,
  plugin(
    "host.getMdadmHealth",
    "Return the state of the software RAID (mdadm) of a host.",
    ["raid.py", "check_raid_pool"],
  ),
  plugin(
    "host.getSmartctlHealth",
    "Return the SMART health of the disks of a host.",
    ["smartctl.py", "health"],
  ),
  plugin("host.getBlockdevices", "List the block devices of a host.", [
    "lsblk.py",
    "list_block_devices",
  ]),
  hostGetSmartctlInformation,
  hostIsHostServerTimeConsistent,
  hostIsPubKeyTooShort,
];
