import { XoError } from "@xo-server/model";
import { Type, type TSchema } from "typebox";
import type { Operation } from "../operations/operation.js";
import type { Services } from "./services.js";
import { defineOperation } from "./define-operation.js";
import { byteSize, toBytes } from "../vms/byte-size.js";
import { idOf } from "./on-object.js";
import { createSr, type NewSr } from "./create-new-sr.js";

const text = Type.String({ minLength: 1 });
const optional = Type.Optional(text);
const texts = Type.Record(Type.String(), Type.String());

const shared = {
  host: idOf("a host; for local storage, the one that has it"),
  nameLabel: text,
  nameDescription: Type.Optional(Type.String()),
};
const preferredImageFormat = Type.Optional(
  Type.Enum(["vhd", "qcow2", "vhd, qcow2", "qcow2, vhd"]),
);
const srUuid = Type.Optional(
  Type.String({
    description: "UUID of an existing SR to reattach instead of creating one.",
  }),
);
const nfs = { nfsVersion: optional, nfsOptions: optional };

const onHost = {
  action: "administrate:create-sr" as const,
  resource: "host",
  id: ({ host }: { readonly host: string }) => host,
};

type SrInput = Readonly<Record<string, string | number | undefined>>;

/** A type of SR: its parameters, and the parameters of XAPI's SR.create that follow from them. */
interface Kind {
  readonly name: string;
  readonly summary: string;
  readonly params: Readonly<Record<string, TSchema>>;
  readonly toSr: (
    input: SrInput,
  ) => Pick<NewSr, "type" | "device" | "shared"> & Partial<NewSr>;
}

const kinds: readonly Kind[] = [
  {
    name: "sr.createNfs",
    summary: "Creates an NFS SR and returns its id.",
    params: { server: text, serverPath: text, ...nfs, srUuid },
    toSr: ({ server, serverPath, nfsVersion, nfsOptions }) => ({
      type: "nfs",
      shared: true,
      device: {
        server,
        serverpath: serverPath,
        nfsversion: nfsVersion,
        options: nfsOptions,
      },
    }),
  },
  {
    name: "sr.createSmb",
    summary: "Creates an SMB SR and returns its id.",
    params: { server: text, user: optional, password: optional, srUuid },
    toSr: ({ server, user: username, password }) => ({
      type: "smb",
      shared: true,
      device: { server, username, password },
    }),
  },
  {
    name: "sr.createIscsi",
    summary: "Creates an SR on an iSCSI LUN (lvmoiscsi) and returns its id.",
    params: {
      target: text,
      targetIqn: text,
      scsiId: text,
      srUuid,
      port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
      chapUser: optional,
      chapPassword: optional,
    },
    toSr: ({ target, port, targetIqn, scsiId, chapUser, chapPassword }) => ({
      type: "lvmoiscsi",
      shared: true,
      device: {
        target,
        port,
        targetIQN: targetIqn,
        SCSIid: scsiId,
        chapuser: chapUser,
        chappassword: chapPassword,
      },
    }),
  },
  {
    name: "sr.createHba",
    summary:
      "Creates an SR on a Fibre Channel LUN (lvmohba) and returns its id.",
    params: { scsiId: text, srUuid },
    toSr: ({ scsiId: SCSIid }) => ({
      type: "lvmohba",
      shared: true,
      device: { SCSIid },
    }),
  },
  {
    name: "sr.createLvm",
    summary: "Creates a local LVM SR on a disk of a host and returns its id.",
    params: { device: text },
    toSr: ({ device }) => ({ type: "lvm", shared: false, device: { device } }),
  },
  {
    name: "sr.createExt",
    summary: "Creates a local ext SR on a disk of a host and returns its id.",
    params: { device: text },
    toSr: ({ device }) => ({ type: "ext", shared: false, device: { device } }),
  },
  {
    name: "sr.createZfs",
    summary: "Creates an SR in a ZFS pool of a host and returns its id.",
    params: { location: text },
    toSr: ({ location }) => ({
      type: "zfs",
      shared: false,
      device: { location },
    }),
  },
];

function defineKind(kind: Kind): Operation<Services> {
  const { name, summary, params, toSr } = kind;
  return defineOperation({
    name,
    summary,
    params: Type.Object({ ...shared, ...params, preferredImageFormat }),
    result: Type.String(),
    permission: onHost,
    changes: true,
    handler: (input, { objects }) => {
      const parameters = input as SrInput & typeof input;
      const { device, ...kindOf } = toSr(parameters);
      const formats = parameters["preferredImageFormat"];
      return createSr(objects, {
        ...namesOf(parameters),
        ...kindOf,
        device: { ...device, "preferred-image-formats": formats },
        uuid: parameters["srUuid"] as string | undefined,
      });
    },
  });
}

function namesOf(input: SrInput & { readonly host: string }) {
  const { host, nameLabel, nameDescription = "" } = input;
  return {
    host,
    name_label: String(nameLabel),
    name_description: String(nameDescription),
  };
}

const isoTypes = ["local", "nfs", "smb"];

export const srCreateIso = defineOperation({
  name: "sr.createIso",
  summary:
    "Creates an ISO SR: `local` (a folder of the host), `nfs` or `smb`. Returns its id.",
  params: Type.Object({
    ...shared,
    path: text,
    type: Type.Enum(isoTypes),
    user: optional,
    password: optional,
    ...nfs,
    srUuid,
  }),
  result: Type.String(),
  permission: onHost,
  changes: true,
  handler: ({ path, type, user, password, ...input }, { objects }) => {
    if (type === "smb" && user === undefined)
      throw new XoError("INVALID_PARAMETERS", {
        reason: "user: required for type smb",
      });
    const devices: Readonly<Record<string, SrInput>> = {
      local: { legacy_mode: "true" },
      nfs: { nfsversion: input.nfsVersion, options: input.nfsOptions },
      smb: { type: "cifs", username: user, cifspassword: password },
    };
    return createSr(objects, {
      ...namesOf(input),
      type: "iso",
      content_type: "iso",
      shared: type !== "local",
      device: { location: path, ...devices[type] },
      uuid: input.srUuid,
    });
  },
});

export const srCreate = defineOperation({
  name: "sr.create",
  summary:
    "Creates an SR of any type that the host has a driver for and returns its id.",
  params: Type.Object({
    host: shared.host,
    SR_type: text,
    name_label: text,
    name_description: Type.Optional(Type.String()),
    content_type: Type.Optional(Type.String()),
    device_config: texts,
    sm_config: Type.Optional(texts),
    size: Type.Optional(byteSize),
  }),
  result: Type.String(),
  permission: onHost,
  changes: true,
  rest: {
    method: "post",
    path: "/srs",
    operationId: "CreateSr",
    exposure: "confirm",
    status: 201,
    body: { hostId: "host" },
  },
  handler: (
    { SR_type, device_config, size, sm_config, ...input },
    { objects },
  ) =>
    createSr(objects, {
      name_description: "",
      ...input,
      type: SR_type,
      device: device_config,
      ...(sm_config === undefined ? {} : { sm_config }),
      ...(size === undefined ? {} : { physicalSize: toBytes(size) }),
      shared: !LOCAL.has(SR_type),
    }),
});

/** Types of SRs that only one host can use. */
const LOCAL = new Set([
  "ext",
  "ext4",
  "xfs",
  "lvm",
  "zfs",
  "udev",
  "largeblock",
]);

/** Creation of SRs. */
export const srCreateOperations = [
  ...kinds.map(defineKind),
  srCreateIso,
  srCreate,
];
