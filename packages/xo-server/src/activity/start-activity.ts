import { wallClock } from "@xo-server/kit";
import type { Inventory } from "@xo-server/inventory";
import type { Objects } from "../objects/start-objects.js";
import type { StartOptions } from "../config/start-options.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import { Activity } from "./activity.js";
import { ActivityListeners } from "./activity-listeners.js";

/** The activity log and the clients subscribed to it. */
interface StartedActivity {
  readonly activity: Activity;
  readonly listeners: ActivityListeners;
}

const HOUR_MS = 3_600_000;

/** Objects are followed after `activity.start()`. */
export function startActivity(
  inventory: Inventory,
  { catalog }: Objects,
  options: Pick<StartOptions, "config" | "loggers" | "clock">,
  stops: StopStack,
): StartedActivity {
  const { config, loggers, clock = wallClock } = options;
  const listeners = new ActivityListeners(clock);
  const activity = new Activity({
    catalog,
    inventory,
    clock,
    logger: loggers.named("xo:activity"),
    maxEntries: config.activity.maxEntries,
    retentionMs: config.activity.retentionHours * HOUR_MS,
    onChange: () => {
      listeners.notify();
    },
  });
  stops.push("activity", () => {
    activity.stop();
    listeners.stop();
  });
  return { activity, listeners };
}
