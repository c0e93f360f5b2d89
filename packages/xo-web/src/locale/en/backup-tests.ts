export const backupTests = {
  lead: "Restores backups into an isolated network, starts the VMs and deletes them again, to verify that the backups work.",
  add: "Add restore tests",
  edit: "Restore tests {name}",
  none: "No restore tests on a schedule",
  noneLead:
    "Example: each week the newest backups of five VMs. A single backup is tested in the list of backups.",
  saved: "Restore tests {name} saved.",
  deleted: "Restore tests {name} deleted.",
  deleteQuestion: "Delete restore tests {name}?",
  deleteLead:
    "Their schedules are deleted. The results of the tests are kept with the backups.",
  started: "Restore tests {name} started.",
  maxVms: "VMs per run",
  maxVmsHint:
    "The VMs that were not tested for the longest time. Empty: all, in each run.",
  atATime: { one: "{n} VM per run", other: "{n} VMs per run" },
  bootTimeout: "Time limit in minutes",
  bootTimeoutHint:
    "Time after the start within which the guest tools must report, or, in VMs with the tag xo-backup-health-check-xenstore, a script.",
  network: "Network",
  networks: {
    closed: {
      name: "Isolated network",
      hint: "A new network for each test, without a connection to others.",
    },
    none: { name: "No network", hint: "The VM has no interfaces." },
  },
  repositoriesHint:
    "The newest backup in these repositories is tested; none selected: in all.",
  unreadableLead: "Backups in it are not tested until it can be read again.",
  resultOf: "Restore test of {name}",
  backupOf: "Backup of {time}",
  backupIn: "Backup of {time} in {repository}",
  passed: "passed",
  failed: "failed",
  answers: {
    tools: "The guest tools reported after {span}.",
    script: "The script of the guest reported after {span}.",
  },
  showScreenshot: "Show console",
  screenshotOf: "Console of {name} at the end of the restore test",
  noScreenshot: "There is no screenshot of the console.",
};
