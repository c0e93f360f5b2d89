/** An operating system of guests: its template, how it boots, and what its agent reports. */
export interface GuestSystem {
  readonly template: string;
  readonly family: "linux" | "windows";
  readonly firmware: "bios" | "uefi";
  readonly memoryGiB: readonly number[];
  /** VM_guest_metrics.os_version; undefined: no agent runs in it. */
  readonly osVersion?: Readonly<Record<string, string>>;
  readonly description: string;
}

function linux(
  template: string,
  name: string,
  [distro, major, minor]: readonly [string, string, string],
  uname: string,
): GuestSystem {
  return {
    template,
    family: "linux",
    firmware: Number(major) >= 12 ? "uefi" : "bios",
    memoryGiB: [1, 2, 2, 4, 4, 8, 8, 16, 32],
    osVersion: { name, uname, distro, major, minor },
    description: name,
  };
}

function windows(template: string, version: string): GuestSystem {
  const [major, minor, build] = version.split(".");
  return {
    template,
    family: "windows",
    firmware: "uefi",
    memoryGiB: [4, 8, 8, 16, 16, 32],
    osVersion: {
      name: `${template} Standard|C:\\Windows|\\Device\\Harddisk0\\Partition3`,
      distro: "windows",
      major: major!,
      minor: minor!,
      build: build!,
      spmajor: "0",
      spminor: "0",
    },
    description: template,
  };
}

export const guestSystems: readonly GuestSystem[] = [
  linux(
    "Debian Bookworm 12",
    "Debian GNU/Linux 12 (bookworm)",
    ["debian", "12", "11"],
    "6.1.0-37-amd64",
  ),
  linux(
    "Debian Trixie 13",
    "Debian GNU/Linux 13 (trixie)",
    ["debian", "13", "1"],
    "6.12.48+deb13-amd64",
  ),
  linux(
    "Ubuntu Jammy Jellyfish 22.04",
    "Ubuntu 22.04.5 LTS",
    ["ubuntu", "22", "04"],
    "5.15.0-157-generic",
  ),
  linux(
    "Ubuntu Noble Numbat 24.04",
    "Ubuntu 24.04.3 LTS",
    ["ubuntu", "24", "04"],
    "6.8.0-85-generic",
  ),
  linux(
    "Rocky Linux 8",
    "Rocky Linux 8.10 (Green Obsidian)",
    ["rocky", "8", "10"],
    "4.18.0-553.78.1.el8_10.x86_64",
  ),
  linux(
    "Rocky Linux 9",
    "Rocky Linux 9.6 (Blue Onyx)",
    ["rocky", "9", "6"],
    "5.14.0-570.46.1.el9_6.x86_64",
  ),
  linux(
    "Red Hat Enterprise Linux 9",
    "Red Hat Enterprise Linux 9.6 (Plow)",
    ["rhel", "9", "6"],
    "5.14.0-570.12.1.el9_6.x86_64",
  ),
  linux(
    "SUSE Linux Enterprise 15",
    "SUSE Linux Enterprise Server 15 SP6",
    ["sles", "15", "6"],
    "6.4.0-150600.23.65-default",
  ),
  windows("Windows Server 2019", "10.0.17763"),
  windows("Windows Server 2022", "10.0.20348"),
  windows("Windows 11", "10.0.26100"),
  {
    template: "Other install media",
    family: "linux",
    firmware: "bios",
    memoryGiB: [1, 2, 4],
    description: "appliance without guest tools",
  },
];

/** Names of XCP-ng's default templates; those above are among them. */
export const templateNames: readonly string[] = [
  "AlmaLinux 8",
  "AlmaLinux 9",
  "AlmaLinux 10",
  "CentOS 7",
  "CentOS Stream 8",
  "CentOS Stream 9",
  "CentOS Stream 10",
  "CoreOS",
  "Debian Buster 10",
  "Debian Bullseye 11",
  "Debian Bookworm 12",
  "Debian Trixie 13",
  "FreeBSD 13",
  "FreeBSD 14",
  "Generic Linux BIOS",
  "Generic Linux UEFI",
  "Gooroom Platform 2.0",
  "NeoKylin Linux Server 7",
  "NetBSD 10",
  "openSUSE Leap 15",
  "OpenBSD 7",
  "Oracle Linux 7",
  "Oracle Linux 8",
  "Oracle Linux 9",
  "Other install media",
  "Red Hat Enterprise Linux 7",
  "Red Hat Enterprise Linux 8",
  "Red Hat Enterprise Linux 9",
  "Red Hat Enterprise Linux 10",
  "Rocky Linux 8",
  "Rocky Linux 9",
  "Rocky Linux 10",
  "Scientific Linux 7",
  "SUSE Linux Enterprise 12",
  "SUSE Linux Enterprise 15",
  "Ubuntu Bionic Beaver 18.04",
  "Ubuntu Focal Fossa 20.04",
  "Ubuntu Jammy Jellyfish 22.04",
  "Ubuntu Noble Numbat 24.04",
  "Windows 10",
  "Windows 11",
  "Windows Server 2016",
  "Windows Server 2019",
  "Windows Server 2022",
  "Windows Server 2025",
];

/** What the VMs of an operator are for: the stem of the name, the folder, a description, tags. */
export const guestRoles: readonly {
  readonly stem: string;
  readonly folder: string;
  readonly description: string;
  readonly tags: readonly string[];
}[] = [
  {
    stem: "web",
    folder: "/Production/Web",
    description: "Front-end web server behind the load balancer",
    tags: ["prod", "web"],
  },
  {
    stem: "db-prod",
    folder: "/Production/Databases",
    description: "PostgreSQL, primary or replica",
    tags: ["prod", "db", "backup-daily"],
  },
  {
    stem: "app",
    folder: "/Production/Applications",
    description: "Application server",
    tags: ["prod", "app"],
  },
  {
    stem: "cache",
    folder: "/Production/Caches",
    description: "Redis cache node",
    tags: ["prod", "cache"],
  },
  {
    stem: "k8s-node",
    folder: "/Platform/Kubernetes",
    description: "Kubernetes worker node",
    tags: ["platform", "k8s"],
  },
  {
    stem: "ci-runner",
    folder: "/Platform/CI",
    description: "Build agent, may be destroyed at any time",
    tags: ["ci", "ephemeral"],
  },
  {
    stem: "mail",
    folder: "/Services/Mail",
    description: "Mail relay",
    tags: ["services"],
  },
  {
    stem: "monitor",
    folder: "/Services/Monitoring",
    description: "Metrics and alerts",
    tags: ["services", "monitoring"],
  },
  {
    stem: "win-rds",
    folder: "/Office/Remote Desktops",
    description: "Remote desktop session host",
    tags: ["office", "windows"],
  },
  {
    stem: "file",
    folder: "/Office/Files",
    description: "File server",
    tags: ["office", "backup-daily"],
  },
  {
    stem: "dev",
    folder: "/Development",
    description: "Developer's machine",
    tags: ["dev"],
  },
  { stem: "test", folder: "/Development/Test", description: "", tags: [] },
];
