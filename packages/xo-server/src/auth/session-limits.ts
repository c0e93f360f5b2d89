import type { Config } from "../config/config.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How long a session lasts. */
export interface SessionLimits {
  /** Time without use after which a session ends, in ms. Undefined: no limit. */
  readonly idleMs: number | undefined;
  /** Life of a session, however much it is used, in ms. */
  readonly lifeMs: number;
  /** The same of a session that a browser remembers, which has no idle limit, in ms. */
  readonly rememberedMs: number;
}

type Limits = Pick<
  Config["auth"],
  "sessionIdleMinutes" | "sessionHours" | "rememberedSessionHours"
>;

/** In ms; `idleMs` undefined: no limit. */
export function sessionLimitsOf(config: Limits): SessionLimits {
  const { sessionIdleMinutes, sessionHours, rememberedSessionHours } = config;
  return {
    idleMs:
      sessionIdleMinutes === 0 ? undefined : sessionIdleMinutes * MINUTE_MS,
    lifeMs: sessionHours * HOUR_MS,
    rememberedMs: rememberedSessionHours * HOUR_MS,
  };
}
