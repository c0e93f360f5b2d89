import type { ReadBackupFigure } from "../alarms/server-metrics.js";
import { startActivity } from "../activity/start-activity.js";
import { startAlarms } from "../alarms/start-alarms.js";
import { version } from "../config/version.js";
import type { Tls } from "../api/tls/start-tls.js";
import { Plugins } from "../plugins/plugins.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Services } from "../methods/definition/services.js";
import type { Updates } from "./start-updates.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";

export interface WithTls {
  /** Undefined: plain HTTP. */
  readonly tls: Pick<Tls, "expiresAt"> | undefined;
}

type MonitoringServices = Pick<
  Services,
  "activity" | "activityListeners" | "alarms" | "alarmListeners" | "plugins"
>;

/** The activity log, alarms and plug-ins. */
export function startMonitoringServices(
  {
    store,
    cluster,
    inventory,
    pools,
    views,
    tls,
    patchWatch,
  }: Core & WithTls & Pick<Updates, "patchWatch">,
  options: ServerOptions,
  stops: StopStack,
  readBackupFigure: ReadBackupFigure,
): MonitoringServices {
  const { activity, listeners: activityListeners } = startActivity(
    inventory,
    views,
    options,
    stops,
  );
  const { alarms, listeners: alarmListeners } = startAlarms(
    {
      store,
      cluster,
      objects: views,
      listPools: () => pools.listSummaries(),
      certificateEndsAt: () => tls?.expiresAt,
      updates: patchWatch,
      readBackupFigure,
    },
    options,
    stops,
  );
  const logger = options.loggers.named("xo:api");
  const plugins = new Plugins({ store, version, logger });
  plugins.start();
  return { activity, activityListeners, alarms, alarmListeners, plugins };
}
