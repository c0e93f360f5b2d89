import { actions } from "./actions.js";
import { activity } from "./activity.js";
import { backup } from "./backup.js";
import { charts } from "./charts.js";
import { cloudConfigs } from "./cloud-configs.js";
import { createVm } from "./create-vm.js";
import { details } from "./details.js";
import { firstRun } from "./first-run.js";
import { health } from "./health.js";
import { heatMap } from "./heat-map.js";
import { host } from "./host.js";
import { initial } from "./initial.js";
import { ipPools } from "./ip-pools.js";
import { keyboard } from "./keyboard.js";
import { migrate } from "./migrate.js";
import { network } from "./network.js";
import { overview } from "./overview.js";
import { palette } from "./palette.js";
import { passthrough } from "./passthrough.js";
import { placement } from "./placement.js";
import { placementFailures } from "./placement-failures.js";
import { pool } from "./pool.js";
import { poolUpdates } from "./pool-updates.js";
import { resourceSets } from "./resource-sets.js";
import { settings } from "./settings.js";
import { signInProviders } from "./sign-in-providers.js";
import { sr } from "./sr.js";
import { sshKeys } from "./ssh-keys.js";
import { tasks } from "./tasks.js";
import { topology } from "./topology.js";
import { tree } from "./tree.js";
import { updates } from "./updates.js";
import { usageReports } from "./usage-reports.js";
import { vm } from "./vm.js";

/**
 * Every text of the page, by feature; loaded with the first component that is not in the initial view.
 * `{name}` is replaced by fill(). Texts that depend on a number have one form for each plural
 * category of the language.
 */
export const en = {
  ...initial,
  actions,
  activity,
  backup,
  charts,
  cloudConfigs,
  createVm,
  details,
  firstRun,
  heatMap,
  host,
  ipPools,
  keyboard,
  migrate,
  network,
  overview,
  palette,
  passthrough,
  placement,
  placementFailures,
  pool,
  poolUpdates,
  resourceSets,
  settings,
  signInProviders,
  sr,
  sshKeys,
  tasks,
  health,
  topology,
  tree,
  updates,
  usageReports,
  vm,
};
