/** BIOS strings of a VM that was not created from a host's own, as XAPI fills them in. */
export const guestBiosStrings = Object.freeze({
  "bios-vendor": "Xen",
  "bios-version": "",
  "system-manufacturer": "Xen",
  "system-product-name": "HVM domU",
  "system-version": "",
  "system-serial-number": "",
  "baseboard-manufacturer": "",
  "baseboard-product-name": "",
  "baseboard-version": "",
  "baseboard-serial-number": "",
  "baseboard-asset-tag": "",
  "baseboard-location-in-chassis": "",
  "enclosure-asset-tag": "",
  "hp-rombios": "",
  "oem-1": "Xen",
  "oem-2": "MS_VM_CERT/SHA1/bdbeb6e0a816d43fa6d3fe8aaef04c2bad9d3e3d",
});

/** The limits that a template sets for its VMs. */
export const guestRecommendations =
  '<restrictions><restriction field="memory-static-max" max="1649267441664"/>' +
  '<restriction field="vcpus-max" max="64"/>' +
  '<restriction field="has-vendor-device" value="false"/>' +
  '<restriction field="allow-gpu-passthrough" value="1"/>' +
  '<restriction field="allow-vgpu" value="1"/>' +
  '<restriction field="allow-network-sriov" value="1"/>' +
  '<restriction field="supports-bios" value="yes"/>' +
  '<restriction field="supports-uefi" value="yes"/>' +
  '<restriction field="supports-secure-boot" value="yes"/>' +
  '<restriction max="255" property="number-of-vbds"/>' +
  '<restriction max="7" property="number-of-vifs"/></restrictions>';

/** Feature bits and flags of the processors that all hosts of a fleet have. */
export const cpuFeatures =
  "1fcbfbff-f7fa3223-2d93fbff-00000023-00000001-009c07eb-00000000-00000100-00000000-1c000000-00000000-00000000-00000000-00000000-00000000-00000000-00000000-00000000";

export const cpuFlags =
  "fpu de tsc msr pae mce cx8 apic sep mca cmov pat clflush acpi mmx fxsr sse sse2 ht syscall nx rdtscp lm constant_tsc arch_perfmon rep_good nopl nonstop_tsc cpuid pni pclmulqdq monitor est ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c rdrand hypervisor lahf_lm abm 3dnowprefetch ida arat epb pln pts dtherm cpuid_fault ssbd ibrs ibpb stibp ibrs_enhanced fsgsbase bmi1 avx2 bmi2 erms rtm avx512f avx512dq rdseed adx clflushopt clwb avx512cd avx512bw avx512vl xsaveopt xsavec xgetbv1 avx512_vnni md_clear arch_capabilities tsc_deadline_timer cpuid_faulting invpcid_single ssbd mba rdt_a cqm_llc cqm_occup_llc cqm_mbm_total cqm_mbm_local dtes64 ds_cpl vmx smx tm2 sdbg xtpr pdcm pcid dca x2apic aperfmperf pln pts hwp hwp_act_window hwp_epp hwp_pkg_req pku ospke avx512_bitalg avx512_vpopcntdq avx512_vbmi2 avx512_ifma avx512_vbmi gfni vaes vpclmulqdq la57 rdpid fsrm pconfig flush_l1d wbnoinvd split_lock_detect intel_pt tme sha_ni xgetbv1 xsaves vnmi tpr_shadow flexpriority ept vpid ept_ad 3dnowprefetch cat_l3 fxsr_opt pdpe1gb bts pebs nonstop_tsc_s3 acpi_hwp arat";

/** What a licence leaves out; nothing here. The names are those of the recordings. */
export const restrictions: Readonly<Record<string, string>> = Object.freeze(
  Object.fromEntries([
    ...[
      "vlan",
      "qos",
      "pool_attached_storage",
      "netapp",
      "equalogic",
      "pooling",
      "marathon",
      "email_alerting",
      "historical_performance",
      "wlb",
      "rbac",
      "dmc",
      "checkpoint",
      "cpu_masking",
      "connection",
      "vmpr",
      "vmss",
      "intellicache",
      "gpu",
      "dr",
      "vif_locking",
      "storage_xen_motion",
      "vgpu",
      "integrated_gpu_passthrough",
      "vss",
      "guest_agent_auto_update",
      "pci_device_for_auto_update",
      "xen_motion",
      "guest_ip_setting",
      "ad",
      "nested_virt",
      "live_patching",
      "set_vcpus_number_live",
      "pvs_proxy",
      "igmp_snooping",
      "rpu",
      "pool_size",
      "cbt",
      "usb_passthrough",
      "network_sriov",
      "corosync",
      "cluster_address",
      "zstd_export",
      "pool_secret_rotation",
      "certificate_verification",
      "updates",
      "internal_repo_access",
      "vtpm",
      "vm_groups",
      "vm_start",
      "vm_appliance_start",
    ].map((name) => [`restrict_${name}`, "false"] as const),
    ["enable_xha", "true"],
    ["platform_filter", "false"],
    ["regular_nag_dialog", "false"],
  ]),
);
