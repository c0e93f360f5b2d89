/** Durations of operations in milliseconds of the simulator's clock: those of a fast host, shortened. */
export const durations = {
  start: 900,
  reboot: 1500,
  cleanShutdown: 1500,
  hardShutdown: 250,
  pause: 50,
  suspend: 1500,
  resume: 1200,
  migrate: 3000,
  snapshot: 400,
  clone: 300,
  copyPerGiB: 60,
  copyLimit: 5000,
  plug: 120,
  diskChange: 150,
  scan: 500,
  /** Before a base copy is merged with the only disk on it. */
  coalesce: 5000,
  srChange: 400,
  hostAgent: 300,
  hostReboot: 8000,
  /** Until a pool declares a host that does not answer dead. */
  fence: 3000,
  poolChange: 500,
  updateCheck: 200,
  updateSync: 1500,
  updateInstallation: 5000,
  /** Before a host restarts in another role: the response is sent first. */
  fuse: 1000,
} as const;
