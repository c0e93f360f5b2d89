import type { Formats } from "../../locale/formats.js";
import type { Messages } from "../../locale/messages.js";
import type { ObjectRow } from "../../api/object-row.js";
import { nameOf } from "../plan/action.js";
import type { Field, Values } from "../plan/action-form.js";

/** Fields of a snapshot; memory only for running VMs. */
export function snapshotFields(
  vms: readonly ObjectRow[],
  { actions: { fields: names } }: Messages,
): readonly Field[] {
  const isRunning = vms.some(({ power_state }) => power_state === "Running");
  const ofRunning: readonly Field[] = [
    { kind: "check", id: "saveMemory", label: names.saveMemory },
    { kind: "check", id: "quiesce", label: names.quiesce },
  ];
  return [
    {
      kind: "text",
      id: "name",
      isOptional: true,
      label: names.name,
      hint: names.snapshotName,
    },
    {
      kind: "lines",
      id: "description",
      isOptional: true,
      label: names.description,
    },
    ...(isRunning ? ofRunning : []),
  ];
}

/** The values that are not false. */
export function onlyOn(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== false),
  );
}

function copyNameField(
  vms: readonly ObjectRow[],
  names: Messages["actions"]["fields"],
): Field {
  const [vm] = vms;
  if (vms.length > 1)
    return {
      kind: "text",
      id: "namePattern",
      label: names.namePattern,
      hint: names.namePatternHint,
      initial: "{name} copy",
    };
  return {
    kind: "text",
    id: "name",
    label: names.name,
    initial: vm === undefined ? "" : `${nameOf(vm)} copy`,
  };
}

/**
 * Form fields of "Copy VM": a fast clone, a full copy, or a copy to another pool;
 * each uses some of them. XAPI clones only what does not run; the server copies others
 * from a snapshot.
 */
export function copyFields(
  vms: readonly ObjectRow[],
  { actions: { fields: names, free }, ui }: Messages,
  formats: Formats,
): readonly Field[] {
  const canClone = vms.every(
    ({ type, power_state: state = "Halted" }) =>
      type !== "VM" || state === "Halted",
  );
  return [
    copyNameField(vms, names),
    {
      kind: "choice",
      id: "kind",
      initial: canClone ? "fast" : "full",
      label: names.kind,
      ...(canClone ? {} : { hint: names.kindRunningHint }),
      options: [
        ...(canClone ? [{ id: "fast", label: names.kindFast }] : []),
        { id: "full", label: names.kindFull },
        { id: "elsewhere", label: names.kindElsewhere },
      ],
    },
    {
      kind: "object",
      id: "sr",
      type: "SR",
      isOptional: true,
      label: names.sr,
      hint: names.srHint,
      filter: "content_type:user",
      fields: ["id", "name_label", "size", "physical_usage"],
      more: ({ size, physical_usage }) =>
        free.replace(
          "{size}",
          formats.size(Number(size ?? 0) - Number(physical_usage ?? 0)),
        ),
    },
    {
      kind: "choice",
      id: "compress",
      initial: "",
      label: names.compression,
      options: [
        { id: "", label: ui.none },
        { id: "zstd", label: "zstd" },
        { id: "gzip", label: "gzip" },
      ],
    },
  ];
}

/** Id of the option that leaves a setting unchanged. */
const UNCHANGED = "unchanged";

/** Settings that several VMs can get at once; empty fields are not changed. */
export function editFields({ actions }: Messages): readonly Field[] {
  const { fields: names, edit } = actions;
  const unchanged = { id: UNCHANGED, label: edit.unchanged };
  return [
    {
      kind: "number",
      id: "CPUs",
      isOptional: true,
      least: 1,
      most: 512,
      label: edit.cpus,
    },
    {
      kind: "size",
      id: "memory",
      isOptional: true,
      least: 2 ** 24,
      label: edit.memory,
    },
    {
      kind: "choice",
      id: "high_availability",
      label: edit.ha,
      options: [
        unchanged,
        { id: "none", label: edit.haModes.none },
        { id: "best-effort", label: edit.haModes.bestEffort },
        { id: "restart", label: edit.haModes.restart },
      ],
    },
    {
      kind: "choice",
      id: "auto_poweron",
      label: edit.autoPowerOn,
      options: [
        unchanged,
        { id: "true", label: edit.on },
        { id: "false", label: edit.off },
      ],
    },
    {
      kind: "lines",
      id: "name_description",
      isOptional: true,
      label: names.description,
    },
  ];
}

/** Parameters of `vm.set` for the fields that were filled in. */
export function toVmSettings({
  auto_poweron,
  high_availability: ha,
  ...values
}: Values): Values {
  const filled = Object.entries(values).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  const isSet = (value: unknown) =>
    typeof value === "string" && value !== UNCHANGED;
  return {
    ...Object.fromEntries(filled),
    // XAPI's word for "do not restart" is an empty string.
    ...(isSet(ha) ? { high_availability: ha === "none" ? "" : ha! } : {}),
    ...(isSet(auto_poweron) ? { auto_poweron: auto_poweron === "true" } : {}),
  };
}
