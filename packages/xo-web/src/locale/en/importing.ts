/** Uploads of VMs, disks and supplemental packs, and imports of files from a URL. */
export const importing = {
  vmLead:
    "An XVA or OVA file on this computer. Keep this page open until the upload has finished.",
  diskLead:
    "A VHD, VHDX, VMDK, qcow2, raw or ISO file on this computer. Keep this page open until the upload has finished.",
  source: "Source",
  sources: { file: "File on this computer", url: "URL" },
  vmUrlLead:
    "An XVA or OVA file on a web server. xo-server downloads it: this page can be closed meanwhile.",
  diskUrlLead:
    "A VHD, VHDX, VMDK, qcow2, raw or ISO file on a web server. xo-server downloads it: this page can be closed meanwhile.",
  url: "URL",
  urlHint:
    "http or https. Private addresses must be in a network of imports.networks in the configuration of the server.",
  notUrl: "Not an http or https URL, such as https://example.org/disk.vhd",
  network: "Network of the network interfaces (OVA)",
  networkHint:
    "Of an OVA file; an XVA file contains the names of its networks.",
  noDefaultSr: "The pool has no default SR: select an SR.",
  format: "Format",
  formats: {
    vhd: "VHD",
    raw: "raw",
    iso: "ISO",
    qcow2: "qcow2",
    vmdk: "VMDK",
    vhdx: "VHDX",
  },
  overwriteLead:
    "The contents of the disk are replaced by a VHD, VHDX, VMDK, qcow2 or raw file on this computer. This cannot be undone. If the upload is interrupted, the disk is partly overwritten.",
  overwrite: "Overwrite",
  isIso: "This is an ISO image: import it as a new disk into an ISO SR.",
  tooLarge: "The file ({file}) is larger than the disk ({disk}).",
  packLead: {
    host: "A supplemental pack or an update (ISO image) is uploaded and installed on this host. Keep this page open until it is installed.",
    pool: "A supplemental pack or an update (ISO image) is uploaded and installed on all hosts of the pool. Keep this page open until it is installed.",
  },
  install: "Install",
  file: "File",
  srHint: "Empty: default SR of the pool",
  networksLead: "The network of this pool for each network of the file:",
  emptyFile: "The file is empty.",
  notDisk:
    "Disks in this format ({format}) cannot be imported: convert the file to VHD, qcow2 or raw.",
  noDescriptor:
    "The file does not begin with an OVF descriptor: it is not a valid OVA.",
  button: "Import",
  sent: "{sent} of {total} ({share})",
  interrupted: "The connection to the server was lost during the upload.",
  noPath: "The server returned no upload URL.",
  /** `{name}`: of the file. */
  uploads: {
    import: {
      sending: "Importing {name}",
      done: "Imported: {name}",
      failed: "Import failed: {name}",
      cancelled: "Import cancelled: {name}",
    },
    overwrite: {
      sending: "Uploading {name}",
      done: "Disk overwritten with {name}",
      failed: "Upload failed: {name}",
      cancelled: "Upload cancelled: {name}",
    },
    install: {
      sending: "Installing {name}",
      done: "Installed: {name}",
      failed: "Installation failed: {name}",
      cancelled: "Installation cancelled: {name}",
    },
  },
};
