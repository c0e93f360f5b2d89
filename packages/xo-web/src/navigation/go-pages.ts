import type { Messages } from "../locale/messages.js";

/** Shortcuts of pages: `g`, then the letter, opens the path. */
export const goPages: readonly {
  readonly letter: string;
  readonly page: keyof Messages["shell"]["pages"];
  readonly path: string;
}[] = [
  { letter: "o", page: "overview", path: "/" },
  { letter: "v", page: "vms", path: "/vms" },
  { letter: "h", page: "hosts", path: "/hosts" },
  { letter: "p", page: "pools", path: "/pools" },
  { letter: "s", page: "srs", path: "/srs" },
  { letter: "d", page: "vdis", path: "/vdis" },
  { letter: "n", page: "networks", path: "/networks" },
  { letter: "i", page: "pifs", path: "/pifs" },
  { letter: "w", page: "storageMap", path: "/storage-map" },
  { letter: "e", page: "templates", path: "/templates" },
  { letter: "b", page: "backup", path: "/backup" },
  { letter: "l", page: "placement", path: "/placement" },
  { letter: "r", page: "health", path: "/health-report" },
  { letter: "u", page: "updates", path: "/updates" },
  { letter: "t", page: "tasks", path: "/tasks" },
  { letter: "a", page: "activity", path: "/activity" },
  { letter: "m", page: "messages", path: "/messages" },
  { letter: "y", page: "topology", path: "/topology" },
  { letter: "c", page: "settings", path: "/settings" },
];
