import { actions } from "./en/actions.js";
import { activity } from "./en/activity.js";
import { charts } from "./en/charts.js";
import { createVm } from "./en/create-vm.js";
import { details } from "./en/details.js";
import { filters } from "./en/filters.js";
import { firstRun } from "./en/first-run.js";
import { general } from "./en/general.js";
import { heatMap } from "./en/heat-map.js";
import { host } from "./en/host.js";
import { keyboard } from "./en/keyboard.js";
import { lists } from "./en/lists.js";
import { migrate } from "./en/migrate.js";
import { network } from "./en/network.js";
import { objects } from "./en/objects.js";
import { overview } from "./en/overview.js";
import { palette } from "./en/palette.js";
import { placement } from "./en/placement.js";
import { placementFailures } from "./en/placement-failures.js";
import { pool } from "./en/pool.js";
import { settings } from "./en/settings.js";
import { shell } from "./en/shell.js";
import { sr } from "./en/sr.js";
import { tasks } from "./en/tasks.js";
import { toasts } from "./en/toasts.js";
import { topology } from "./en/topology.js";
import { tree } from "./en/tree.js";
import { ui } from "./en/ui.js";
import { vm } from "./en/vm.js";

/**
 * Every text of the page, by room. `{name}` is filled in by fill(); texts that depend on
 * a number have one form for each plural category of the language.
 */
export const en = {
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
