import type { Page } from "playwright-core";

/** Of one object of each type. */
export interface Ids {
  readonly vm: string;
  readonly halted: string;
  readonly host: string;
  readonly pool: string;
  readonly sr: string;
  readonly network: string;
}

export interface Picture {
  readonly name: string;
  readonly path: (ids: Ids) => string;
  /** No user has signed in. */
  readonly isGuest?: boolean;
  /** What is done before the picture is taken. */
  readonly act?: (page: Page) => Promise<unknown>;
}

const at = (
  name: string,
  path: string,
  more: Partial<Picture> = {},
): Picture => ({
  name,
  path: () => path,
  ...more,
});
const of = (name: string, path: Picture["path"]): Picture => ({ name, path });

/** Opens the dialog of the section's main button. */
function clickMain(page: Page): Promise<void> {
  return page.locator("main .button.main").first().click();
}

/** Every page of xo-web, and some dialogs and menus. */
export const pages: readonly Picture[] = [
  at("sign-in", "/", { isGuest: true }),
  at("status", "/status"),
  ...["failures", "recommendations", "rules", "automatic", "history"].map(
    (tab) => at(`placement-${tab}`, `/placement/${tab}`),
  ),
  at("overview", "/"),
  at("vms", "/vms"),
  at("vms-selected", "/vms", {
    act: async (page) => {
      for (const box of (await page.getByRole("checkbox").all()).slice(1, 4))
        await box.check();
    },
  }),
  at("templates", "/templates"),
  at("snapshots", "/snapshots"),
  at("hosts", "/hosts"),
  at("pools", "/pools"),
  at("srs", "/srs"),
  at("vdis", "/vdis"),
  at("networks", "/networks"),
  at("pifs", "/pifs"),
  at("messages", "/messages"),
  ...[
    "",
    "statistics",
    "console",
    "disks",
    "network",
    "snapshots",
    "events",
    "advanced",
    "raw",
  ].map((tab) =>
    of(tab === "" ? "vm" : `vm-${tab}`, ({ vm }) => `/vms/${vm}/${tab}`),
  ),
  of("vm-halted", ({ halted }) => `/vms/${halted}`),
  ...["", "statistics", "network", "storage"].map((tab) =>
    of(
      tab === "" ? "host" : `host-${tab}`,
      ({ host }) => `/hosts/${host}/${tab}`,
    ),
  ),
  of("pool", ({ pool }) => `/pools/${pool}`),
  of("sr", ({ sr }) => `/srs/${sr}`),
  of("network", ({ network }) => `/networks/${network}`),
  at("new-vm", "/new/vm"),
  at("topology", "/topology"),
  at("storage-map", "/storage-map"),
  at("tasks", "/tasks"),
  at("activity", "/activity"),
  ...[
    ...["servers", "users", "groups", "roles", "tokens", "jobs"],
    ...["alarms", "audit", "performance", "account"],
  ].map((section) => at(`settings-${section}`, `/settings/${section}`)),
  at("dialog-user", "/settings/users", { act: clickMain }),
  at("dialog-alarm-rule", "/settings/alarms", { act: clickMain }),
  at("dialog-placement-rule", "/placement/rules", { act: clickMain }),
  at("first-run", "/first-run"),
  at("palette", "/vms", {
    act: async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("combobox").fill("web");
      await page.getByRole("option").nth(3).waitFor();
    },
  }),
  at("help", "/vms", { act: (page) => page.keyboard.press("?") }),
  at("tree", "/vms", {
    act: async (page) => {
      const menu = page.getByRole("button", { name: "Open the menu" });
      if (await menu.isVisible()) await menu.click();
      await page.getByRole("button", { name: "Tree" }).click();
    },
  }),
];
