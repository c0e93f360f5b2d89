import type { UpdatePackage } from "./update-package.js";

/** 2026-10-20T08:00:00Z */
const BUILT = 1_792_483_200;
const author = "Build System <build@example.com>";

/** Packages that the repositories of every pool have at its start. */
export const catalogue: readonly UpdatePackage[] = [
  {
    name: "xen-hypervisor",
    version: "4.17.5",
    release: "23.1",
    description: "The Xen hypervisor",
    size: 7_263_232,
    url: "https://xenproject.org",
    license: "GPLv2",
    changelog: {
      date: BUILT,
      author,
      description:
        "- Fix XSA-476 (CVE-2026-27466), a guest can crash the host\n- Backport fixes of the scheduler",
    },
    guidance: "reboot_host",
    isSecurity: true,
    software: { xen: "4.17.5-23" },
  },
  {
    name: "kernel",
    version: "4.19.19",
    release: "8.0.45.1",
    description: "The Linux kernel of the control domain",
    size: 31_457_280,
    url: "https://www.kernel.org",
    license: "GPLv2",
    changelog: {
      date: BUILT - 86_400,
      author,
      description: "- Fix CVE-2026-31011 in the network stack",
    },
    guidance: "reboot_host",
    isSecurity: true,
    software: { date: "20261020T08:00:00Z" },
  },
  {
    name: "microcode_ctl",
    version: "2.1",
    release: "26.xs33",
    description: "Microcode of Intel processors",
    size: 8_912_896,
    url: "https://github.com/intel",
    license: "Redistributable",
    changelog: {
      date: BUILT - 5 * 86_400,
      author,
      description: "- Update to IPU 2026.4",
    },
    guidance: "reboot_host",
    isSecurity: true,
  },
  {
    name: "xapi-core",
    version: "25.33.1",
    release: "2.3",
    description: "The toolstack",
    size: 42_991_616,
    url: "https://github.com/xapi-project/xen-api",
    license: "LGPL-2.1-or-later",
    changelog: {
      date: BUILT - 2 * 86_400,
      author,
      description: "- Fix a leak of file descriptors in event.from",
    },
    guidance: "restart_toolstack",
    software: { xapi: "25.33", xapi_build: "25.33.1" },
  },
  {
    name: "qemu",
    version: "4.2.1",
    release: "5.2.15",
    description: "The device model of HVM guests",
    size: 9_437_184,
    url: "https://www.qemu.org",
    license: "GPLv2",
    changelog: {
      date: BUILT - 3 * 86_400,
      author,
      description: "- Fix CVE-2026-11234 in the emulated disk controller",
    },
    guidance: "restart_device_model",
    isSecurity: true,
  },
  {
    name: "xcp-ng-pv-tools",
    version: "8.3",
    release: "18",
    description: "Guest tools",
    size: 2_097_152,
    url: "https://xcp-ng.org",
    license: "BSD",
    changelog: null,
    guidance: "restart_vm",
  },
  {
    name: "openssl-libs",
    version: "1.0.2k",
    release: "27.2",
    description: "Library of TLS",
    size: 1_258_291,
    url: "https://www.openssl.org",
    license: "OpenSSL",
    changelog: null,
  },
];
