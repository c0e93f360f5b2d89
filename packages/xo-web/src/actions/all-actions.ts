import type { Action } from "./plan/action.js";
import { anyObjectActions } from "./kinds/any-object.js";
import { hostActions } from "./kinds/host.js";
import { hostCareActions } from "./kinds/host-care.js";
import { managementActions } from "./kinds/management.js";
import { otherActions } from "./kinds/other.js";
import { poolActions } from "./kinds/pool.js";
import { storageActions } from "./kinds/storage.js";
import { templateActions } from "./kinds/template.js";
import { vmDeviceActions } from "./kinds/vm-devices.js";
import { vmFolderActions } from "./kinds/vm-folder.js";
import { vmPowerActions } from "./kinds/vm-power.js";
import { vmWorkActions } from "./kinds/vm-work.js";

/** The groups of a menu, in their order. */
const order = ["power", "work", "change", "danger"] as const;

/** Every action of the page. */
export const allActions: readonly Action[] = [
  ...vmPowerActions,
  ...templateActions,
  ...vmDeviceActions,
  ...vmWorkActions,
  ...hostActions,
  ...hostCareActions,
  ...poolActions,
  ...managementActions,
  ...storageActions,
  ...otherActions,
  ...vmFolderActions,
  ...anyObjectActions,
].sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group));
