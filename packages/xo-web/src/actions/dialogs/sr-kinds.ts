import type { Json } from "@xo-server/kit";
import type { Messages } from "../../locale/messages.js";

export type SrField = keyof Messages["actions"]["newSr"]["fields"];

/** A query to a host that lists possible values of a field. */
export interface SrProbe {
  readonly method: string;
  /** Fields that have to be filled in first. */
  readonly needs: readonly SrField[];
  /**
   * Member of each row that becomes the value of the field, and members that are
   * shown beside the value.
   */
  readonly value: string;
  readonly more: readonly string[];
}

interface SrKind {
  readonly id: keyof Messages["actions"]["newSr"]["kinds"];
  readonly method: string;
  readonly fields: readonly SrField[];
  readonly optional?: readonly SrField[];
  readonly params?: Readonly<Record<string, Json>>;
  readonly probes?: Partial<Readonly<Record<SrField, SrProbe>>>;
}

/** Types of SRs that the page can create; the API has more. */
export const srKinds: readonly SrKind[] = [
  {
    id: "nfs",
    method: "sr.createNfs",
    fields: ["server", "serverPath", "nfsVersion"],
    optional: ["nfsVersion"],
    probes: {
      serverPath: {
        method: "sr.probeNfs",
        needs: ["server"],
        value: "path",
        more: ["acl"],
      },
    },
  },
  {
    id: "iscsi",
    method: "sr.createIscsi",
    fields: ["target", "chapUser", "chapPassword", "targetIqn", "scsiId"],
    optional: ["chapUser", "chapPassword"],
    probes: {
      targetIqn: {
        method: "sr.probeIscsiIqns",
        needs: ["target"],
        value: "iqn",
        more: ["ip"],
      },
      scsiId: {
        method: "sr.probeIscsiLuns",
        needs: ["target", "targetIqn"],
        value: "scsiId",
        more: ["vendor", "serial", "size"],
      },
    },
  },
  {
    id: "hba",
    method: "sr.createHba",
    fields: ["scsiId"],
    probes: {
      scsiId: {
        method: "sr.probeHba",
        needs: [],
        value: "scsiId",
        more: ["path", "vendor", "size"],
      },
    },
  },
  { id: "ext", method: "sr.createExt", fields: ["device"] },
  { id: "lvm", method: "sr.createLvm", fields: ["device"] },
  {
    id: "isoNfs",
    method: "sr.createIso",
    fields: ["path"],
    params: { type: "nfs" },
  },
  {
    id: "isoSmb",
    method: "sr.createIso",
    fields: ["path", "user", "password"],
    params: { type: "smb" },
  },
  {
    id: "isoLocal",
    method: "sr.createIso",
    fields: ["path"],
    params: { type: "local" },
  },
];

type SrValues = Readonly<Partial<Record<SrField, string>>>;

/** Parameters of a probe: those of the kind, and its fields that are filled in. */
export function probeParameters(
  kind: SrKind,
  values: SrValues,
  without?: SrField,
): Record<string, Json> {
  const input: Record<string, Json> = {};
  for (const field of kind.fields) {
    const value = values[field];
    if (field !== without && value) input[field] = value;
  }
  return input;
}

/** Required fields that are empty. */
export function missingOf(kind: SrKind, values: SrValues): readonly SrField[] {
  return kind.fields.filter(
    (field) => !values[field] && kind.optional?.includes(field) !== true,
  );
}
