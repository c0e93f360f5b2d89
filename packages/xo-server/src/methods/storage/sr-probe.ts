import { XapiError } from "@xo-server/model";
import { Type, type TSchema } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { idOf } from "../definition/on-object.js";
import { readRows } from "./sr-probe-answer.js";

const text = (description: string) =>
  Type.String({ minLength: 1, description });
const optional = (description: string) => Type.Optional(text(description));
const port = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 65_535,
    description: "TCP port of the iSCSI target. Default: 3260.",
  }),
);

type DeviceInput = Readonly<Record<string, string | number | undefined>>;

/** A query to a storage driver about storage that is not an SR of the pool yet (XAPI SR.probe). */
interface Probe {
  readonly name: string;
  readonly summary: string;
  readonly params: Readonly<Record<string, TSchema>>;
  readonly type: string;
  readonly device: (input: DeviceInput) => DeviceInput;
  /** XML element of each result, and our names of its members. */
  readonly rows: readonly [
    element: string,
    names: Readonly<Record<string, string>>,
  ];
}

const chap = {
  chapUser: optional("User name for CHAP."),
  chapPassword: optional("Password for CHAP."),
};
const server = text("Host name or address of the NFS server.");
const nfsVersion = optional("Version of NFS, such as 4.1.");
const target = text("Host name or address of the iSCSI target.");
const targetIqn = text("IQN of the target.");
const scsiId = text("SCSI id of the LUN.");
const uuid = ["SR", { UUID: "uuid" }] as const;

function iscsi(input: DeviceInput): DeviceInput {
  return {
    target: input["target"],
    port: input["port"],
    targetIQN: input["targetIqn"],
    SCSIid: input["scsiId"],
    chapuser: input["chapUser"],
    chappassword: input["chapPassword"],
  };
}

function nfs({ server, serverPath, nfsVersion }: DeviceInput): DeviceInput {
  return { server, serverpath: serverPath, nfsversion: nfsVersion };
}

const probes: readonly Probe[] = [
  {
    name: "sr.probeNfs",
    summary: "List the exports of an NFS server.",
    params: { server, nfsVersion },
    type: "nfs",
    device: nfs,
    rows: ["Export", { Path: "path", Accesslist: "acl" }],
  },
  {
    name: "sr.probeNfsExists",
    summary: "List the SRs on an NFS export.",
    params: { server, serverPath: text("Path of the export."), nfsVersion },
    type: "nfs",
    device: nfs,
    rows: uuid,
  },
  {
    name: "sr.probeIscsiIqns",
    summary: "List the targets (IQNs) of an iSCSI server.",
    params: { target, port, ...chap },
    type: "lvmoiscsi",
    device: iscsi,
    rows: ["TGT", { TargetIQN: "iqn", IPAddress: "ip" }],
  },
  {
    name: "sr.probeIscsiLuns",
    summary: "List the LUNs of an iSCSI target.",
    params: { target, port, targetIqn, ...chap },
    type: "lvmoiscsi",
    device: iscsi,
    rows: [
      "LUN",
      {
        LUNid: "id",
        vendor: "vendor",
        serial: "serial",
        size: "size",
        SCSIid: "scsiId",
      },
    ],
  },
  {
    name: "sr.probeIscsiExists",
    summary: "List the SRs on an iSCSI LUN.",
    params: { target, port, targetIqn, scsiId, ...chap },
    type: "lvmoiscsi",
    device: iscsi,
    rows: uuid,
  },
  {
    name: "sr.probeHba",
    summary: "List the Fibre Channel LUNs of a host.",
    params: {},
    type: "lvmohba",
    device: () => ({}),
    rows: [
      "BlockDevice",
      {
        hba: "hba",
        path: "path",
        SCSIid: "scsiId",
        size: "size",
        vendor: "vendor",
      },
    ],
  },
  {
    name: "sr.probeHbaExists",
    summary: "List the SRs on a Fibre Channel LUN.",
    params: { scsiId },
    type: "lvmohba",
    rows: uuid,
    device: ({ scsiId: SCSIid }) => ({ SCSIid }),
  },
  {
    name: "sr.probeZfs",
    summary: "List the SRs in ZFS pools of a host.",
    params: {},
    type: "zfs",
    device: () => ({}),
    rows: uuid,
  },
];

/** Drivers report the possible values of a missing parameter in their error. */
const RESULT_IN_ERROR = /^SR_BACKEND_FAILURE_(96|101|107|90)$/;

async function probe(call: () => Promise<unknown>): Promise<string> {
  try {
    return String(await call());
  } catch (error) {
    const isResult =
      error instanceof XapiError && RESULT_IN_ERROR.test(error.code);
    if (!isResult) throw error;
    return error.params[2] ?? "";
  }
}

function toStrings(input: DeviceInput): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(input)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, String(value)]),
  );
}

/** Operations that list storage from which SRs can be created. */
export const srProbeOperations = probes.map(
  ({ name, summary, params, type, device, rows }) =>
    defineOperation({
      name,
      summary,
      params: Type.Object({ host: idOf("the host that probes"), ...params }),
      result: Type.Array(Type.Object({})),
      permission: {
        action: "administrate:create-sr",
        resource: "host",
        id: ({ host }) => host,
      },
      handler: async (input, { objects }) => {
        const { xapi, ref } = objects.get(input.host, "host");
        const config = toStrings(device(input));
        const answer = await probe(() =>
          xapi.callAsync("SR.probe", [ref, config, type, {}]),
        );
        return readRows(answer, ...rows);
      },
    }),
);
