import type { Page } from "playwright-core";

/** Ids of one object of each type. */
export interface Ids {
  readonly vm: string;
  readonly halted: string;
  readonly template: string;
  readonly snapshot: string;
  readonly host: string;
  readonly pool: string;
  readonly sr: string;
  readonly network: string;
}

export interface PageToShow {
  readonly name: string;
  readonly path: (ids: Ids) => string;
  /** The page is shown without signing in. */
  readonly isGuest?: boolean;
  /** What is done before the screenshot is taken. */
  readonly act?: (page: Page) => Promise<unknown>;
}

const withPath = (
  name: string,
  path: string,
  more: Partial<PageToShow> = {},
): PageToShow => ({
  name,
  path: () => path,
  ...more,
});
const ofObject = (name: string, path: PageToShow["path"]): PageToShow => ({
  name,
  path,
});

/** The first tab has no name in its address. */
const tabsOf = (
  name: string,
  path: PageToShow["path"],
  tabs: readonly string[],
): readonly PageToShow[] => [
  ofObject(name, path),
  ...tabs.map((tab) =>
    ofObject(`${name}-${tab}`, (ids) => `${path(ids)}/${tab}`),
  ),
];

/** Opens the dialog of the section's main button. */
function clickMain(page: Page): Promise<void> {
  return page.locator("main .button.main").first().click();
}

/** Every page of xo-web, and some dialogs and menus. */
export const pages: readonly PageToShow[] = [
  withPath("sign-in", "/", { isGuest: true }),
  withPath("status", "/status"),
  ...["failures", "recommendations", "rules", "automatic", "history"].map(
    (tab) => withPath(`placement-${tab}`, `/placement/${tab}`),
  ),
  ...["overview", "jobs", "runs", "tests", "backups", "repositories"].map(
    (tab) => withPath(`backup-${tab}`, `/backup/${tab}`),
  ),
  withPath("updates", "/updates"),
  withPath("health-report", "/health-report"),
  withPath("not-found", "/no-such-page"),
  withPath("overview", "/"),
  withPath("vms", "/vms"),
  withPath("vms-selected", "/vms", {
    act: async (page) => {
      for (const box of (await page.getByRole("checkbox").all()).slice(1, 4))
        await box.check();
    },
  }),
  withPath("templates", "/templates"),
  withPath("snapshots", "/snapshots"),
  withPath("hosts", "/hosts"),
  withPath("pools", "/pools"),
  withPath("srs", "/srs"),
  withPath("vdis", "/vdis"),
  withPath("networks", "/networks"),
  withPath("pifs", "/pifs"),
  withPath("messages", "/messages"),
  ...[
    "",
    "statistics",
    "console",
    "disks",
    "network",
    "snapshots",
    "backups",
    "placement",
    "events",
    "advanced",
  ].map((tab) =>
    ofObject(tab === "" ? "vm" : `vm-${tab}`, ({ vm }) => `/vms/${vm}/${tab}`),
  ),
  ofObject("vm-halted", ({ halted }) => `/vms/${halted}`),
  ofObject("template", ({ template }) => `/templates/${template}`),
  ofObject("snapshot", ({ snapshot }) => `/snapshots/${snapshot}`),
  ...tabsOf("host", ({ host }) => `/hosts/${host}`, [
    "vms",
    "statistics",
    "console",
    "network",
    "storage",
    "patches",
    "devices",
    "events",
    "advanced",
  ]),
  ...tabsOf("pool", ({ pool }) => `/pools/${pool}`, [
    "hosts",
    "vms",
    "networks",
    "storage",
    "updates",
    "statistics",
    "events",
    "advanced",
  ]),
  ...tabsOf("sr", ({ sr }) => `/srs/${sr}`, [
    "disks",
    "chains",
    "statistics",
    "events",
  ]),
  ...tabsOf("network", ({ network }) => `/networks/${network}`, [
    "vms",
    "events",
  ]),
  withPath("new-vm", "/new/vm"),
  withPath("topology", "/topology"),
  withPath("storage-map", "/storage-map"),
  withPath("tasks", "/tasks"),
  withPath("activity", "/activity"),
  ...[
    "account",
    "servers",
    "users",
    "groups",
    "roles",
    "resource-sets",
    "ip-pools",
    "sign-in",
    "tokens",
    "jobs",
    "alarms",
    "usage-reports",
    "cloud-configs",
    "performance",
    "cluster",
    "audit",
    "configuration",
  ].map((section) => withPath(`settings-${section}`, `/settings/${section}`)),
  withPath("dialog-user", "/settings/users", { act: clickMain }),
  withPath("dialog-alarm-rule", "/settings/alarms", { act: clickMain }),
  withPath("dialog-placement-rule", "/placement/rules", { act: clickMain }),
  withPath("first-run", "/first-run"),
  withPath("palette", "/vms", {
    act: async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("combobox").fill("web");
      await page.getByRole("option").nth(3).waitFor();
    },
  }),
  withPath("help", "/vms", { act: (page) => page.keyboard.press("?") }),
  withPath("tree", "/vms", {
    act: async (page) => {
      const menu = page.getByRole("button", { name: "Open the menu" });
      if (await menu.isVisible()) await menu.click();
      await page.getByRole("button", { name: "Tree" }).click();
    },
  }),
];
