import { XoError } from "@xo-server/model";
import { Type, type TSchema } from "typebox";
import type { Operation } from "../../operations/operation.js";
import type { Services } from "../definition/services.js";
import { defineOperation } from "../definition/define-operation.js";
import { byteSize, toBytes } from "../../vms/parameters/byte-size.js";
import { idOf } from "../definition/on-object.js";
import { createSr, type NewSr } from "./create-new-sr.js";

const text = (description: string) =>
  Type.String({ minLength: 1, description });
const optional = (description: string) => Type.Optional(text(description));

const shared = {
  host: idOf("a host; for local storage, the one that has it"),
  nameLabel: text("Name of the SR."),
  nameDescription: Type.Optional(
    Type.String({ description: "Description of the SR." }),
  ),
};
const preferredImageFormat = Type.Optional(
  Type.Enum(["vhd", "qcow2", "vhd, qcow2", "qcow2, vhd"], {
    description:
      "Formats of disk images, in order of preference. Default: chosen by the host.",
  }),
);
const srUuid = Type.Optional(
  Type.String({
    description: "UUID of an existing SR to reattach instead of creating one.",
  }),
);
const nfs = {
  nfsVersion: optional("Version of NFS, such as 4.1."),
  nfsOptions: optional("Mount options of NFS."),
};
const scsiId = text("SCSI id of the LUN, as sr.probe operations return it.");
const device = text(
  "Device on the host, such as /dev/sdb. Its data is erased.",
);

const onHost = {
  action: "administrate:create-sr" as const,
  resource: "host",
  id: ({ host }: { readonly host: string }) => host,
};

type SrInput = Readonly<Record<string, string | number | undefined>>;

/**
 * A type of SR: its parameters, and the parameters of XAPI's SR.create that are
 * derived from them.
 */
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
    summary: "Create an NFS SR and return its id.",
    params: {
      server: text("Host name or address of the NFS server."),
      serverPath: text("Path of the export."),
      ...nfs,
      srUuid,
    },
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
    summary: "Create an SMB SR and return its id.",
    params: {
      server: text("Share, as \\\\server\\share."),
      user: optional("User name at the SMB server."),
      password: optional("Password at the SMB server."),
      srUuid,
    },
    toSr: ({ server, user: username, password }) => ({
      type: "smb",
      shared: true,
      device: { server, username, password },
    }),
  },
  {
    name: "sr.createIscsi",
    summary: "Create an SR on an iSCSI LUN (lvmoiscsi) and return its id.",
    params: {
      target: text("Host name or address of the iSCSI target."),
      targetIqn: text("IQN of the target."),
      scsiId,
      srUuid,
      port: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 65_535,
          description: "TCP port of the iSCSI target. Default: 3260.",
        }),
      ),
      chapUser: optional("User name for CHAP."),
      chapPassword: optional("Password for CHAP."),
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
    summary: "Create an SR on a Fibre Channel LUN (lvmohba) and return its id.",
    params: { scsiId, srUuid },
    toSr: ({ scsiId: SCSIid }) => ({
      type: "lvmohba",
      shared: true,
      device: { SCSIid },
    }),
  },
  {
    name: "sr.createLvm",
    summary: "Create a local LVM SR on a disk of a host and return its id.",
    params: { device },
    toSr: ({ device }) => ({ type: "lvm", shared: false, device: { device } }),
  },
  {
    name: "sr.createExt",
    summary: "Create a local ext SR on a disk of a host and return its id.",
    params: { device },
    toSr: ({ device }) => ({ type: "ext", shared: false, device: { device } }),
  },
  {
    name: "sr.createZfs",
    summary: "Create an SR in a ZFS pool of a host and return its id.",
    params: { location: text("Name of the ZFS pool on the host.") },
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

const srCreateIso = defineOperation({
  name: "sr.createIso",
  summary:
    "Create an ISO SR (`local`: a folder of the host, `nfs` or `smb`) and return its id.",
  params: Type.Object({
    ...shared,
    path: text(
      "Folder of the host, NFS export (server:/path) or SMB share (\\\\server\\share).",
    ),
    type: Type.Enum(isoTypes, { description: "Where the images are stored." }),
    user: optional("User name at the SMB server."),
    password: optional("Password at the SMB server."),
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

const srCreate = defineOperation({
  name: "sr.create",
  summary:
    "Create an SR of any type for which the host has a driver, and return its id.",
  params: Type.Object({
    host: shared.host,
    SR_type: text("XAPI's type of the SR, such as nfs."),
    name_label: text("Name of the SR."),
    name_description: Type.Optional(
      Type.String({ description: "Description of the SR." }),
    ),
    content_type: Type.Optional(
      Type.String({
        description: "Type of the content: `user` (disks) or `iso`.",
      }),
    ),
    device_config: Type.Record(Type.String(), Type.String(), {
      description: "Parameters of the storage driver (XAPI's device_config).",
    }),
    sm_config: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: "XAPI's sm_config.",
      }),
    ),
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
