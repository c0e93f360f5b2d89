import {
  AppWindow,
  Bell,
  Cable,
  Camera,
  Database,
  EthernetPort,
  HardDrive,
  LayoutTemplate,
  ListTodo,
  Network,
  Server,
  Boxes,
  type LucideIcon,
} from "@lucide/vue";

const icons: Readonly<Record<string, LucideIcon>> = {
  VM: AppWindow,
  "VM-template": LayoutTemplate,
  "VM-snapshot": Camera,
  "VM-controller": AppWindow,
  host: Server,
  pool: Boxes,
  SR: Database,
  VDI: HardDrive,
  network: Network,
  PIF: EthernetPort,
  VIF: Cable,
  task: ListTodo,
  message: Bell,
};

/** Icon of a type of objects. */
export function iconOf(type: string): LucideIcon {
  return icons[type] ?? Boxes;
}
