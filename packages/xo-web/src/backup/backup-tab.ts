/** The tabs of the page in their order; the first has no name in its address. */
const backupTabs = [
  "overview",
  "jobs",
  "runs",
  "tests",
  "backups",
  "repositories",
] as const;
export type BackupTab = (typeof backupTabs)[number];

/** Tabs whose operations are permitted to administrators only. */
const forAdmins: ReadonlySet<BackupTab> = new Set([
  "overview",
  "jobs",
  "runs",
  "tests",
]);

/** The tabs that a user may open. */
export function visibleTabs(isAdmin: boolean): readonly BackupTab[] {
  return backupTabs.filter((tab) => isAdmin || !forAdmins.has(tab));
}

/** The tab of an address, else the first that the user may open. */
export function findTab(named: string, isAdmin: boolean): BackupTab {
  const visible = visibleTabs(isAdmin);
  return visible.find((tab) => tab === named) ?? visible[0]!;
}

/** Path of a tab of the page "Backup"; the overview has no segment of its own. */
export function backupPath(tab: string): string {
  return tab === "overview" ? "/backup" : `/backup/${tab}`;
}
