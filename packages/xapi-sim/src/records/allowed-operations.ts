/*
 * Operations allowed on an object in its present state, as the recordings of the real XAPI list
 * them (groups records, life, real). Frozen: shared by thousands of records.
 */
const list = (...names: string[]): readonly string[] => Object.freeze(names);

const halted = list(
  "create_vtpm",
  "destroy",
  "metadata_export",
  "export",
  "make_into_template",
  "changing_NVRAM",
  "changing_shadow_memory",
  "changing_static_range",
  "changing_dynamic_range",
  "migrate_send",
  "start_on",
  "start",
  "copy",
  "clone",
  "snapshot",
);
const running = list(
  "sysprep",
  "metadata_export",
  "changing_dynamic_range",
  "migrate_send",
  "pool_migrate",
  "changing_VCPUs_live",
  "suspend",
  "checkpoint",
  "clean_reboot",
  "clean_shutdown",
  "hard_reboot",
  "hard_shutdown",
  "pause",
  "snapshot",
);
const runningWithoutAgent = list(
  "sysprep",
  "metadata_export",
  "changing_dynamic_range",
  "hard_reboot",
  "hard_shutdown",
  "pause",
  "snapshot",
);
const runningPvWithoutAgent = running.filter(
  (name) => name !== "changing_VCPUs_live",
);
const paused = list(
  "metadata_export",
  "changing_dynamic_range",
  "hard_reboot",
  "hard_shutdown",
  "unpause",
  "checkpoint",
  "snapshot",
);
const suspended = list(
  "destroy",
  "metadata_export",
  "export",
  "hard_shutdown",
  "resume_on",
  "resume",
  "checkpoint",
  "snapshot",
);
const template = list(
  "destroy",
  "metadata_export",
  "export",
  "changing_NVRAM",
  "changing_shadow_memory",
  "changing_static_range",
  "changing_dynamic_range",
  "migrate_send",
  "provision",
  "copy",
  "clone",
);
const snapshot = list(
  "destroy",
  "metadata_export",
  "export",
  "revert",
  "copy",
  "clone",
);

export const controlDomainOperations = list(
  "metadata_export",
  "changing_static_range",
  "changing_dynamic_range",
);

/** The fields of a VM that decide. `agent`: the guest's tools have reported. */
interface VmState {
  readonly powerState: string;
  readonly isTemplate: boolean;
  readonly isSnapshot: boolean;
  readonly isControlDomain: boolean;
  readonly agent: boolean;
  /** PV guests need no tools. */
  readonly isPv?: boolean;
}

/** `allowed_operations` of a VM, as XAPI computes them from its state. */
export function vmOperations(state: VmState): readonly string[] {
  if (state.isControlDomain) return controlDomainOperations;
  if (state.isSnapshot) return snapshot;
  if (state.isTemplate) return template;
  switch (state.powerState) {
    case "Running":
      if (state.agent) return running;
      return state.isPv === true ? runningPvWithoutAgent : runningWithoutAgent;
    case "Paused":
      return paused;
    case "Suspended":
      return suspended;
    default:
      return halted;
  }
}

const hostEnabled = list(
  "vm_migrate",
  "provision",
  "vm_resume",
  "enable",
  "evacuate",
  "vm_start",
);
const hostDisabled = list(
  "reboot",
  "shutdown",
  "enable",
  "evacuate",
  "apply_updates",
);

/** `allowed_operations` of a host. @param enabled whether it accepts VMs */
export function hostOperations(enabled: boolean): readonly string[] {
  return enabled ? hostEnabled : hostDisabled;
}

export const poolOperations = list(
  "ha_enable",
  "cluster_create",
  "designate_new_master",
  "tls_verification_enable",
  "configure_repositories",
  "sync_updates",
  "sync_bundle",
  "apply_updates",
  "cert_refresh",
  "exchange_certificates_on_join",
  "exchange_ca_certificates_on_join",
  "copy_primary_host_certs",
  "eject",
  "get_updates",
  "exchange_crls_on_join",
);

const diskPlugged = list(
  "attach",
  "unpause",
  "pause",
  "unplug",
  "unplug_force",
);
const diskOfRunning = list("attach", "unpause", "pause");
const cdPlugged = list("attach", "eject", "unpause", "pause");
const cdEmpty = list("attach", "insert");
const vbdUnplugged = list("attach", "plug");
const vbdUnpluggedOfOthers = list("attach");

/** `canHotPlug`: the VM runs, with guest tools; only then can a device be plugged or unplugged. */
export function vbdOperations(vbd: {
  readonly type: string;
  readonly empty: boolean;
  readonly attached: boolean;
  readonly canHotPlug: boolean;
}): readonly string[] {
  if (vbd.type === "CD") return vbd.empty ? cdEmpty : cdPlugged;
  if (vbd.attached) return vbd.canHotPlug ? diskPlugged : diskOfRunning;
  return vbd.canHotPlug ? vbdUnplugged : vbdUnpluggedOfOthers;
}

const vifPlugged = list("attach", "unplug");
const vifUnplugged = list("attach", "plug");
const vifOfOthers = list("attach");

/** `allowed_operations` of a VIF. @param canHotPlug the VM runs, with guest tools */
export function vifOperations(
  attached: boolean,
  canHotPlug: boolean,
): readonly string[] {
  if (!canHotPlug) return vifOfOthers;
  return attached ? vifPlugged : vifUnplugged;
}

const vdiFree = list(
  "snapshot",
  "clone",
  "copy",
  "resize",
  "destroy",
  "forget",
  "update",
  "generate_config",
  "enable_cbt",
  "set_on_boot",
);
const vdiInUse = list(
  "snapshot",
  "clone",
  "generate_config",
  "update",
  "mirror",
);
const vdiReadOnly = list(
  "clone",
  "copy",
  "destroy",
  "forget",
  "generate_config",
);

/* With CBT, and of a disk of which only that is left [xapi_vdi.ml, from memory]. */
const vdiFreeTracked = list(
  ...vdiFree.filter((name) => name !== "set_on_boot"),
  "disable_cbt",
  "list_changed_blocks",
);
const vdiInUseTracked = list(...vdiInUse.filter((name) => name !== "mirror"));
const vdiReadOnlyTracked = list(
  ...vdiReadOnly,
  "data_destroy",
  "list_changed_blocks",
);
const vdiMetadata = list(
  "destroy",
  "forget",
  "generate_config",
  "update",
  "data_destroy",
  "list_changed_blocks",
);

/** `isTracked`: CBT is enabled; `isMetadata`: nothing but that is left of the disk. */
export function vdiOperations(vdi: {
  readonly inUse: boolean;
  readonly readOnly: boolean;
  readonly isTracked?: boolean;
  readonly isMetadata?: boolean;
}): readonly string[] {
  const { inUse, readOnly, isTracked = false, isMetadata = false } = vdi;
  if (isMetadata) return vdiMetadata;
  if (inUse) return isTracked ? vdiInUseTracked : vdiInUse;
  if (readOnly) return isTracked ? vdiReadOnlyTracked : vdiReadOnly;
  return isTracked ? vdiFreeTracked : vdiFree;
}

export const srOperations = list(
  "unplug",
  "plug",
  "pbd_create",
  "update",
  "pbd_destroy",
  "vdi_resize",
  "vdi_clone",
  "scan",
  "vdi_snapshot",
  "vdi_mirror",
  "vdi_create",
  "vdi_destroy",
  "vdi_set_on_boot",
  "vdi_enable_cbt",
  "vdi_disable_cbt",
  "vdi_data_destroy",
  "vdi_list_changed_blocks",
);
export const isoSrOperations = list(
  "unplug",
  "plug",
  "pbd_create",
  "update",
  "pbd_destroy",
  "scan",
  "vdi_clone",
);
/** With no host that has it at hand [xapi_sr_operations.ml, from memory]. */
export const unpluggedSrOperations = list(
  "plug",
  "pbd_create",
  "pbd_destroy",
  "destroy",
  "forget",
);
