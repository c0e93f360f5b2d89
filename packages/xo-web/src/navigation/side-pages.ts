import {
  Activity,
  AppWindow,
  Archive,
  Boxes,
  CircleArrowUp,
  Database,
  EthernetPort,
  HardDrive,
  HeartPulse,
  LayoutDashboard,
  LayoutTemplate,
  ListTodo,
  Mail,
  Map,
  Network,
  Scale,
  Server,
  Settings,
  Waypoints,
  type LucideIcon,
} from "@lucide/vue";
import type { Messages } from "../locale/messages.js";

export interface SidePage {
  readonly page: keyof Messages["shell"]["pages"];
  readonly path: string;
  readonly icon: LucideIcon;
}

/** The links of the side bar, in groups. */
export const sidePages: readonly {
  readonly group: keyof Messages["shell"]["groups"];
  readonly pages: readonly SidePage[];
}[] = [
  {
    group: "fleet",
    pages: [
      { page: "overview", path: "/", icon: LayoutDashboard },
      { page: "vms", path: "/vms", icon: AppWindow },
      { page: "hosts", path: "/hosts", icon: Server },
      { page: "pools", path: "/pools", icon: Boxes },
    ],
  },
  {
    group: "resources",
    pages: [
      { page: "templates", path: "/templates", icon: LayoutTemplate },
      { page: "srs", path: "/srs", icon: Database },
      { page: "vdis", path: "/vdis", icon: HardDrive },
      { page: "networks", path: "/networks", icon: Network },
      { page: "pifs", path: "/pifs", icon: EthernetPort },
      { page: "topology", path: "/topology", icon: Waypoints },
      { page: "storageMap", path: "/storage-map", icon: Map },
    ],
  },
  {
    group: "work",
    pages: [
      { page: "backup", path: "/backup", icon: Archive },
      { page: "placement", path: "/placement", icon: Scale },
      { page: "updates", path: "/updates", icon: CircleArrowUp },
      { page: "health", path: "/health-report", icon: HeartPulse },
      { page: "tasks", path: "/tasks", icon: ListTodo },
      { page: "activity", path: "/activity", icon: Activity },
      { page: "messages", path: "/messages", icon: Mail },
      { page: "settings", path: "/settings", icon: Settings },
    ],
  },
];
