import type { Config } from "../../config/config.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How long sessions last. */
export interface SessionLimits {
  /** Time without use after which a session ends, in ms. Undefined: no limit. */
  readonly idleMs: number | undefined;
  /** Maximum lifetime of a session, in ms. */
  readonly lifeMs: number;
  /**
   * Maximum lifetime of a session that the browser keeps after it was closed, in
   * ms. Such a session has no idle limit.
   */
  readonly rememberedMs: number;
}

type Limits = Pick<
  Config["auth"],
  "sessionIdleMinutes" | "sessionHours" | "rememberedSessionHours"
>;

/** Converts the configured limits to ms. */
export function sessionLimitsOf(config: Limits): SessionLimits {
  const { sessionIdleMinutes, sessionHours, rememberedSessionHours } = config;
  return {
    idleMs:
      sessionIdleMinutes === 0 ? undefined : sessionIdleMinutes * MINUTE_MS,
    lifeMs: sessionHours * HOUR_MS,
    rememberedMs: rememberedSessionHours * HOUR_MS,
  };
}
