import { actions } from "./de/actions.js";
import { activity } from "./de/activity.js";
import { charts } from "./de/charts.js";
import { createVm } from "./de/create-vm.js";
import { details } from "./de/details.js";
import { filters } from "./de/filters.js";
import { firstRun } from "./de/first-run.js";
import { general } from "./de/general.js";
import { heatMap } from "./de/heat-map.js";
import { host } from "./de/host.js";
import { keyboard } from "./de/keyboard.js";
import { lists } from "./de/lists.js";
import { migrate } from "./de/migrate.js";
import { network } from "./de/network.js";
import { objects } from "./de/objects.js";
import { overview } from "./de/overview.js";
import { palette } from "./de/palette.js";
import { placement } from "./de/placement.js";
import { placementFailures } from "./de/placement-failures.js";
import { pool } from "./de/pool.js";
import { settings } from "./de/settings.js";
import { shell } from "./de/shell.js";
import { sr } from "./de/sr.js";
import { tasks } from "./de/tasks.js";
import { toasts } from "./de/toasts.js";
import { topology } from "./de/topology.js";
import { tree } from "./de/tree.js";
import { ui } from "./de/ui.js";
import { vm } from "./de/vm.js";
import type { Messages } from "./messages.js";

export const de: Messages = {
  ...general,
  actions,
  activity,
  charts,
  createVm,
  details,
  filters,
  firstRun,
  heatMap,
  host,
  keyboard,
  lists,
  migrate,
  network,
  objects,
  overview,
  palette,
  placement,
  placementFailures,
  pool,
  settings,
  shell,
  sr,
  tasks,
  toasts,
  topology,
  tree,
  ui,
  vm,
};
